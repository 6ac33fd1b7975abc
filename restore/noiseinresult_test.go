package restore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// Noise that a camera has smoothed is seen in a photograph that is blurred: a run for the white part alone would bring it
// back many times as strong, and would be made again.
func TestDeblurSeesNoiseInItsResult(t *testing.T) {
	leaveGains(t)
	const h, w = 160, 176
	k, err := deblur.Shake(13, 4)
	require.NoError(t, err)
	soft, err := deblur.Gaussian(0.8)
	require.NoError(t, err)
	original := restore.Network(loaded(t, newCPU(t), open(t, weights.Original)))
	white := noisy(restore.NewPlanar(3, h, w), 0.03, 6)
	grey := noisy(restore.NewPlanar(1, h, w), 0.03, 6)
	for name, c := range map[string]struct {
		noise  *restore.Planar
		missed bool
		gain   float64 // in decibels
	}{
		"smoothed": {blurred(t, white, soft, deblur.Circular), false, 8}, // the map sees it in the photograph
		"white":    {white, false, 5},
		"grey":     {blurred(t, grey, soft, deblur.Circular), false, 0},
	} {
		x := picture(c.noise.Channels, h, w)
		y := blurred(t, x, k, deblur.Circular)
		for i, v := range c.noise.Pix {
			y.Pix[i] += v
		}
		out, report, err := restore.Deblur(t.Context(), y, k, original, restore.Boundary(deblur.Circular))
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.Converges(), name)
		missed := strings.Contains(strings.Join(report.Doubts, "\n"), "in the result")
		require.Equal(t, c.missed, missed, "%s: %q", name, report.Doubts)
		if c.missed {
			require.Greater(t, report.Noise.Disturbance, 5*report.Noise.Sigma, name)
		}
		require.Greater(t, psnr(t, x, out.(*restore.Planar)), psnr(t, x, y)+c.gain, name)
	}
}
