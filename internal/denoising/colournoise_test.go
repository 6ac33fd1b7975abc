package denoising

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/synthetic"
)

// What is added has the mean 0 over the channels, the level of its square along both axes of colour, and is the same for any
// number of threads: with the noise of the grey image the noise is white.
func TestColourNoise(t *testing.T) {
	const h, w, level = 96, 130, 0.125
	p := imageplanes.New(1, h, w)
	copy(p.Pix, synthetic.White(p.Pix, level/math.Sqrt(3), 9))
	levels := denoise.ConstantLevels(h, w, level)
	for i := range levels.Sigma {
		if i%levels.Columns == 0 {
			levels.Sigma[i] = 0
		}
	}
	q := WithColourNoise(p, 0, levels, 1)
	require.Equal(t, q.Pix, WithColourNoise(p, 0, levels, 3).Pix)
	require.Equal(t, WithColourNoise(p, level, nil, 2).Pix, WithColourNoise(p, 0, denoise.ConstantLevels(h, w, level), 2).Pix)
	require.InDeltaSlice(t, p.Pix, brightness(append([]float32{}, q.Pix...)), 1e-7)

	var variances [3][3]float64 // of the channels, and between them
	for i := range p.Pix {
		if i%w < levels.Side {
			for c := range 3 {
				require.Equal(t, p.Pix[i], q.Plane(c)[i])
			}
			continue
		}
		for a := range 3 {
			for b := range 3 {
				variances[a][b] += float64(q.Plane(a)[i]) * float64(q.Plane(b)[i]) / float64(h*(w-levels.Side))
			}
		}
	}
	for a := range 3 {
		for b := range 3 {
			want := 0.0
			if a == b {
				want = level * level
			}
			require.InDelta(t, want, variances[a][b], 0.05*level*level, "channels %d and %d", a, b)
		}
	}
}
