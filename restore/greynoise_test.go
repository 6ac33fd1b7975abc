package restore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/synthetic"
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

// Where noise is in brightness alone, the colours have nothing to remove, and stay.
func TestDenoiseOfNoiseInBrightness(t *testing.T) {
	leaveGains(t)
	truth := restore.NewPlanar(3, 160, 200)
	for i := range 160 * 200 {
		y, x := float32(i/200/80), float32(i%200/100)
		truth.Plane(0)[i], truth.Plane(1)[i], truth.Plane(2)[i] = .3+.4*x, .4+.2*y, .5-.2*x*y
	}
	noise := restore.NewPlanar(3, 160, 200)
	copy(noise.Pix, synthetic.Brightness(truth.Pix, 15./255, 3))
	for _, options := range [][]restore.Option{nil, {restore.Sigma(15. / 255)}} {
		out, _, err := restore.Denoise(t.Context(), noise, options...)
		require.NoError(t, err)
		p := out.(*restore.Planar)
		after := psnr(t, p, truth)
		t.Logf("%.2f dB, before %.2f", after, psnr(t, noise, truth))
		require.Greater(t, after, psnr(t, noise, truth)+5)
		for i, v := range p.Plane(0) {
			require.InDelta(t, noise.Plane(0)[i]-noise.Plane(2)[i], v-p.Plane(2)[i], 1e-6)
		}
	}
}
