package degradation

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// So many pixels are missing as were asked for, wherever, and equal seeds draw the same.
func TestMissingPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 20).Draw(t, "h"), rapid.IntRange(2, 20).Draw(t, "w")
		share, seed := rapid.Float64Range(1e-3, 0.999).Draw(t, "share"), rapid.Uint64().Draw(t, "seed")
		m := MissingPixels(h, w, share, seed)
		require.Equal(t, image.Pt(w, h), m.Bounds().Size())
		count := 0
		for _, v := range m.Pix {
			require.True(t, v == 0 || v == 255)
			count += int(v / 255)
		}
		require.Positive(t, count)
		require.Less(t, count, h*w)
		if wanted := share * float64(h*w); wanted >= 1 && wanted <= float64(h*w-1) {
			require.LessOrEqual(t, math.Abs(float64(count)-wanted), 0.5)
		}
		require.Equal(t, m.Pix, MissingPixels(h, w, share, seed).Pix)
		require.Equal(t, m, BlackAndWhite(m), "it is read as it was made")
	})
	// Every pixel is missing as often as any other: 2000 draws of 5 of 20, four deviations.
	var often [20]int
	for seed := range 2000 {
		for i, v := range MissingPixels(4, 5, 0.25, uint64(seed)).Pix {
			often[i] += int(v / 255)
		}
	}
	for _, n := range often {
		require.InDelta(t, 500, n, 4*math.Sqrt(2000*0.25*0.75))
	}
}
