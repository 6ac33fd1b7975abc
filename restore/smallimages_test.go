package restore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/upscale"
)

// parts are windows of h×w pixels of the still life.
func parts(h, w int) (all []*restore.Planar) {
	whole := still(256, 320)
	for top := 0; top+h <= whole.Height; top += 128 {
		for left := 0; left+w <= whole.Width; left += 80 {
			p := restore.NewPlanar(3, h, w)
			for c := range 3 {
				for y := range h {
					copy(p.Plane(c)[y*w:][:w], whole.Plane(c)[(top+y)*whole.Width+left:])
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// TestNoiseOfSmallImages: noise is found in images and strips of few pixels, and none in half of the clean ones or more.
func TestNoiseOfSmallImages(t *testing.T) {
	for _, size := range [][2]int{{8, 8}, {16, 16}, {40, 24}, {64, 3}} {
		clean, gain := 0, 0.0
		images := parts(size[0], size[1])
		for i, x := range images {
			e, err := restore.EstimateNoise(t.Context(), x)
			require.NoError(t, err)
			require.Len(t, e.Levels.Sigma, (size[0]+15)/16*((size[1]+15)/16))
			if e.Sigma < 0.008 {
				clean++
			}
			y := noisy(x, 0.055, uint64(i))
			out, _, err := restore.Denoise(t.Context(), y)
			require.NoError(t, err)
			gain += (psnr(t, x, out.(*restore.Planar)) - psnr(t, x, y)) / float64(len(images))
		}
		t.Logf("%v: no noise in %d of %d clean ones, %.1f dB gained on noisy ones", size, clean, len(images), gain)
		require.GreaterOrEqual(t, 2*clean, len(images), "%v", size)
		require.Greater(t, gain, 3.5, "%v", size)
	}
}

// TestUpscaleSmallImages: an image of few pixels is not smoothed for noise that it does not have, and a noisy one is.
func TestUpscaleSmallImages(t *testing.T) {
	kernel, err := upscale.Bicubic.Kernel(2)
	require.NoError(t, err)
	for _, c := range []struct{ sigma, gain float64 }{{0, 0.5}, {0.055, 2}} {
		gain, worst := 0.0, 99.0
		images := parts(32, 32)
		for i, x := range images {
			y := noisy(scaledDown(t, x, kernel, 2), c.sigma, uint64(i))
			out, _, err := restore.Upscale(t.Context(), y, 2)
			require.NoError(t, err)
			more := psnr(t, x, out.(*restore.Planar)) - psnr(t, x, interpolated(t, y, 2))
			gain, worst = gain+more/float64(len(images)), min(worst, more)
		}
		t.Logf("noise of %g: %.2f dB over cubic interpolation, worst %.2f", c.sigma, gain, worst)
		require.Greater(t, gain, c.gain)
		require.Greater(t, worst, -1.5)
	}
}

// TestUpscaleDrawing: lines of one bit are enlarged without a level of noise.
func TestUpscaleDrawing(t *testing.T) {
	x := restore.NewPlanar(3, 80, 90)
	for i := range x.Pix {
		if y, c := i/90%80, i%90; (y*y+c*c)%700 > 40 || y > 70 {
			x.Pix[i] = 1
		}
	}
	_, report, err := restore.Upscale(t.Context(), x, 2, restore.Iterations(2))
	require.NoError(t, err)
	require.Zero(t, report.Noise.Sigma)
}

// TestNearlyTransparentPixelsAreNoHotPixels: where opacity is one step of 8 bits, programs that multiply by it leave colours of
// black and full intensity.
func TestNearlyTransparentPixelsAreNoHotPixels(t *testing.T) {
	x := still(64, 64)
	x.Alpha = make([]uint16, 64*64)
	for i := range x.Alpha {
		x.Alpha[i] = 0xffff
	}
	for _, at := range []int{7*64 + 9, 20*64 + 50, 31*64 + 22, 45*64 + 40, 57*64 + 15} {
		x.Alpha[at] = 257
		x.Plane(0)[at], x.Plane(1)[at], x.Plane(2)[at] = 1, 0, 1
	}
	_, report, err := restore.Denoise(t.Context(), x)
	require.NoError(t, err)
	require.Zero(t, report.Noise.Impulses)
	x.Alpha = nil
	_, report, err = restore.Denoise(t.Context(), x)
	require.NoError(t, err)
	require.NotZero(t, report.Noise.Impulses, "opaque ones are")
}
