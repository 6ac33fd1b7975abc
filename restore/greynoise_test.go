package restore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
)

// A grey image with white noise is restored as well as a network of colour can: not as one whose channels have the same noise, which
// it has not learned.
func TestDenoiseOfGreyWithStrongNoise(t *testing.T) {
	leaveGains(t)
	truth := picture(1, 160, 200)
	const sigma = 40. / 255
	noise := noisy(truth, sigma, 3)
	out, report, err := restore.Denoise(t.Context(), noise, restore.Sigma(sigma))
	require.NoError(t, err)
	require.True(t, report.Certified)
	after := psnr(t, out.(*restore.Planar), truth)
	t.Logf("%.2f dB, before %.2f", after, psnr(t, noise, truth))
	require.Greater(t, after, 28.0)

	// The same kept as colour, and in each call.
	again, _, err := restore.Denoise(t.Context(), &restore.Planar{Width: truth.Width, Height: truth.Height, Channels: 3, Pix: append(append(append([]float32{}, noise.Pix...), noise.Pix...), noise.Pix...)}, restore.Sigma(sigma))
	require.NoError(t, err)
	require.Equal(t, out.(*restore.Planar).Pix, again.(*restore.Planar).Plane(1))
}
