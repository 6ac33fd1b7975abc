package chroma

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChromaOfEveryRatioAndSize(t *testing.T) {
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		for w := 1; w <= 9; w++ {
			for h := 1; h <= 9; h++ {
				s := image.NewYCbCr(image.Rect(0, 0, w, h), ratio)
				for i := range s.Cb {
					// A ramp of steps of 8 stays a ramp between its ends.
					s.Cb[i], s.Cr[i] = byte(100+8*(i%s.CStride)), 77
				}
				u := NewRows(s)
				for y := range h {
					cb, cr := u.Row(y)
					require.Len(t, cb, w)
					for x := range w {
						require.EqualValues(t, 77, cr[x])
						nearest := int(s.Cb[s.COffset(x, y)])
						require.InDelta(t, nearest, cb[x], 2, "%v %d×%d at %d,%d", ratio, w, h, x, y)
						require.True(t, x == 0 || cb[x] >= cb[x-1])
					}
				}
			}
		}
	}
}

func TestConversionOfComponents(t *testing.T) {
	for _, c := range []struct{ luma, cb, cr, r, g, b byte }{
		{0, 128, 128, 0, 0, 0}, {255, 128, 128, 255, 255, 255}, {76, 85, 255, 254, 0, 0}, {29, 255, 107, 0, 0, 254}, {150, 44, 21, 0, 255, 1},
	} {
		r, g, b := JFIFToRGB(c.luma, c.cb, c.cr)
		require.Equal(t, []byte{c.r, c.g, c.b}, []byte{r, g, b})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		luma, cb, cr := byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256))
		r, g, b := JFIFToRGB(luma, cb, cr)
		y, u, v := float64(luma), float64(cb)-128, float64(cr)-128
		for c, want := range []float64{y + 1.402*v, y - 0.344136*u - 0.714136*v, y + 1.772*u} {
			require.InDelta(t, min(max(want, 0), 255), []byte{r, g, b}[c], 0.51)
		}
	}
}
