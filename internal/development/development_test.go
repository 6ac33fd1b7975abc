package development

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
)

// What a sensor sees of something grey is grey, whatever its colours are, and what saturates it stays white.
func TestGreyStaysGrey(t *testing.T) {
	c := Camera{Neutral: [3]float64{0.5, 1, 0.7}, Matrix: matrix3.Matrix{0.4124, 0.3576, 0.1805, 0.3, 0.6, 0.1, 0.02, 0.12, 0.95}.Inverse()}
	pattern := demosaic.Pattern{0, 1, 1, 2}
	for _, size := range [][2]int{{4, 6}, {1, 6}} {
		h, w := size[0], size[1]
		for light, want := range map[float64]float64{0: 0, 0.2140411: 0.5, 1: 1, 7: 1} {
			mosaic, colours := make([]float32, h*w), make([]float32, 0, 3*h*w)
			for i := range mosaic {
				mosaic[i] = float32(light * c.Neutral[pattern.At(i/w, i%w)])
				for _, n := range c.Neutral {
					colours = append(colours, float32(light*n))
				}
			}
			for _, planes := range [][]float32{c.Mosaic(mosaic, h, w, pattern), c.Colours(colours)} {
				require.Len(t, planes, 3*h*w)
				for _, v := range planes {
					require.InDelta(t, want, v, 1e-5)
				}
			}
			require.InDeltaSlice(t, []float64{want, want}, Grey([]float32{float32(light), 9, float32(light), 9}, 2), 1e-5)
		}
	}
	require.Zero(t, encode(math.NaN()))
}
