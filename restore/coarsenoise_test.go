package restore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// TestDeblurMeasuresCoarseNoise: noise that a camera has smoothed is measured under the blur, and removed.
func TestDeblurMeasuresCoarseNoise(t *testing.T) {
	leaveGains(t)
	const h, w = 264, 280
	k, err := deblur.Shake(13, 4)
	require.NoError(t, err)
	soft, err := deblur.Gaussian(0.8)
	require.NoError(t, err)
	original := restore.Network(loaded(t, newCPU(t), open(t, weights.Original)))
	white := noisy(restore.NewPlanar(3, h, w), 0.03, 6)
	grey := noisy(restore.NewPlanar(1, h, w), 0.03, 6)
	for name, c := range map[string]struct {
		noise *restore.Planar
		kind  string
		gain  float64 // in decibels
	}{
		"smoothed":       {blurred(t, white, soft, deblur.Circular), "coarse", 5},
		"white":          {white, "white", 5},
		"grey, smoothed": {blurred(t, grey, soft, deblur.Circular), "coarse", 0},
	} {
		x := still(h, w)
		if c.noise.Channels == 1 {
			x = &restore.Planar{Channels: 1, Height: h, Width: w, Pix: x.Plane(1)}
		}
		y := blurred(t, x, k, deblur.Circular)
		for i, v := range c.noise.Pix {
			y.Pix[i] += v
		}
		// The first iterations have all of the gain.
		out, report, err := restore.Deblur(t.Context(), y, k, original, restore.Boundary(deblur.Circular), restore.Iterations(6))
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.Converges(), name)
		require.Equal(t, c.kind, report.Noise.Estimate.Kind, name)
		require.Greater(t, psnr(t, x, out.(*restore.Planar)), psnr(t, x, y)+c.gain, name)
	}
}
