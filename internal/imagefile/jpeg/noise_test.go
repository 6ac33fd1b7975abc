package jpeg

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/stretchr/testify/require"
)

// The noise that is computed from the coefficients of a JPEG is near what the coding changed, for fine and for coarse detail
// and all qualities. Detail that no coefficient has kept is not counted.
func TestCodingNoiseIsThatOfTheCoding(t *testing.T) {
	const side = 128
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []float64{0.02, 0.06, 0.15} {
		for _, smooth := range []float64{0, 0.8} {
			m := imagetest.Smooth(side, side, 1)
			for y := range side {
				for x, last := 0, 0.0; x < side; x++ {
					last = smooth*last + math.Sqrt(1-smooth*smooth)*random.ExpFloat64()*float64(1-2*random.IntN(2))
					m.Pix[y*side+x] = float32(min(max(0.5+spread*last, 0), 1))
				}
			}
			for _, quality := range []int{30, 50, 75, 90, 97} {
				file := imagetest.GoJPEG(t, m, quality)
				c, _, err := Decode(source.File(context.Background(), bytes.NewReader(file), int64(len(file)), 0), true)
				require.NoError(t, err)
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
