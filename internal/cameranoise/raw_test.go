package cameranoise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// Without noise, a raw image and its development are what Clean makes, except for what is beyond the frame.
func TestRawIsCleanWithoutNoise(t *testing.T) {
	const h, w = 24, 26
	pix := make([]float32, 3*h*w)
	for i := range pix {
		y, x := i%(h*w)/w, i%w
		pix[i] = .5 + .2*float32(math.Sin(float64(y+i/(h*w))/3)) + .1*backend.GaussianAt(1, uint64(x))
		pix[i] = min(max(pix[i], 0), 1)
	}
	for p := RGGB; p <= BGGR; p++ {
		c := Typical()
		c.Pattern, c.LumaSmoothing, c.ChromaSmoothing, c.Sharpening = p, 0, 0, 0
		raw, err := c.Mosaic(pix, h, w, 3, false)
		require.NoError(t, err)
		got, err := c.Develop(raw, h, w)
		require.NoError(t, err)
		want, err := c.Clean(pix, h, w)
		require.NoError(t, err)
		for i, v := range want {
			if y, x := i%(h*w)/w, i%w; y >= 2 && y < h-2 && x >= 2 && x < w-2 {
				require.Equal(t, v, got[i], "%v", p)
			}
		}
	}
}

// The noise of a raw image is that which the camera says.
func TestRawNoise(t *testing.T) {
	const h, w = 128, 128
	pix := make([]float32, h*w)
	for i := range pix {
		pix[i] = .6
	}
	c := Typical()
	c.Bits, c.Tone = 14, 0
	clean, err := c.Mosaic(pix, h, w, 1, false)
	require.NoError(t, err)
	noisy, err := c.Mosaic(pix, h, w, 1, true)
	require.NoError(t, err)
	sum, expected := 0., 0.
	for i, v := range noisy {
		d := float64(v) - float64(clean[i])
		sum += d * d
		expected += c.ShotNoise()*float64(clean[i]) + c.ReadVariance()
	}
	require.InEpsilon(t, expected, sum, .04)
	_, err = c.Develop(noisy[1:], h, w)
	require.ErrorIs(t, err, ErrArgument)
	_, err = c.Mosaic(pix, h, w+1, 1, true)
	require.ErrorIs(t, err, ErrArgument)
}
