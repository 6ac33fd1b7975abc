package restore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// The network that is one map for all photographs has no guide, and two of colour, bright and without hot pixels, are not
// moved apart. Denoise decides by the photograph whether it is any of these, so that not all pairs are like that.
func TestStrict(t *testing.T) {
	const h, w = 12, 14
	a, b := restore.NewPlanar(3, h, w), restore.NewPlanar(3, h, w)
	for i := range a.Pix {
		a.Pix[i] = float32(i%w) / w
		b.Pix[i] = a.Pix[i] + 0.1*float32(i%3) - 0.05*float32(i%5)
	}
	of := func(y *restore.Planar) []float32 {
		out, report, err := restore.Denoise(t.Context(), y, restore.Method(weights.Strict), restore.Sigma(0.1), restore.Adaptation(false))
		require.NoError(t, err)
		require.Equal(t, weights.Strict, report.Method)
		require.Nil(t, report.Network.Guide)
		return out.(*restore.Planar).Pix
	}
	distance := func(x, y []float32) float64 {
		sum := 0.0
		for i, v := range x {
			d := float64(v - y[i])
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	require.LessOrEqual(t, distance(of(a), of(b)), distance(a.Pix, b.Pix))
}
