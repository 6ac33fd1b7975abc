package imagefile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/jpegblock"
)

// The noise that is computed from the coefficients of a JPEG is near what the coding changed, for fine and for coarse detail
// and all qualities. Detail that no coefficient has kept is not counted.
func TestCodingNoiseIsThatOfTheCoding(t *testing.T) {
	const side = 128
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []float64{0.02, 0.06, 0.15} {
		for _, smooth := range []float64{0, 0.8} {
			m := smoothImage(side, side, 1)
			for y := range side {
				for x, last := 0, 0.0; x < side; x++ {
					last = smooth*last + math.Sqrt(1-smooth*smooth)*random.ExpFloat64()*float64(1-2*random.IntN(2))
					m.Pix[y*side+x] = float32(min(max(0.5+spread*last, 0), 1))
				}
			}
			for _, quality := range []int{30, 50, 75, 90, 97} {
				c := decode(t, goJPEG(t, m, quality))
				power := 0.0
				for i, v := range c.Pix {
					d := float64(v) - math.Round(255*float64(m.Pix[i]))/255
					power += d * d
				}
				changed := math.Sqrt(power / float64(len(c.Pix)))
				require.LessOrEqual(t, c.JPEG.Noise, 1.25*changed, "spread %v, smooth %v, quality %d", spread, smooth, quality)
				if spread > 0.02 || quality > 75 {
					require.GreaterOrEqual(t, c.JPEG.Noise, 0.55*changed, "spread %v, smooth %v, quality %d", spread, smooth, quality)
				}
			}
		}
	}
}

// No plane has more noise than steps that are all rounded by a half, and what is too small for a block has none.
func TestCodingNoiseHasBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w, beyond := rapid.IntRange(0, 33).Draw(t, "h"), rapid.IntRange(0, 33).Draw(t, "w"), rapid.IntRange(0, 5).Draw(t, "beyond")
		pix := rapid.SliceOfN(rapid.Byte(), h*(w+beyond), h*(w+beyond)).Draw(t, "pix")
		var steps [64]uint16
		for i, s := range jpegblock.Steps(rapid.IntRange(1, 100).Draw(t, "quality"))[0] {
			steps[i] = uint16(s)
		}
		noise := codingNoise(pix, w+beyond, w, h, &steps)
		most := 0.0
		for _, s := range steps {
			most += float64(s) * float64(s) / 4
		}
		require.GreaterOrEqual(t, noise, 0.0)
		require.LessOrEqual(t, noise, math.Sqrt(most/64)/255)
		if h < 8 || w < 8 {
			require.Zero(t, noise)
		}
	})
}
