package restore_test

import (
	"context"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// sensed returns a scene of soft shapes as a sensor sees it, with noise in linear light under a tone curve, and the scene.
func sensed(sigma float64) (noisy, scene *restore.Planar) {
	const side = 192
	r := rand.New(rand.NewPCG(8, 2))
	noisy, scene = restore.NewPlanar(3, side, side), restore.NewPlanar(3, side, side)
	for c := range 3 {
		for i := range side * side {
			x, y := float64(i%side)/side, float64(i/side)/side
			v := 0.35 + 0.15*math.Sin(5*x+float64(c))*math.Cos(4*y) + 0.1*y
			light := max(math.Pow(v, 2.2)+sigma*r.NormFloat64(), 0)
			scene.Plane(c)[i], noisy.Plane(c)[i] = float32(v), float32(math.Pow(light, 1/2.2))
		}
	}
	return noisy, scene
}

// darkening is by how much an image is darker than the scene, on average.
func darkening(img image.Image, scene *restore.Planar) float64 {
	sum := 0.0
	for i, v := range pixels(img) {
		sum += float64(scene.Pix[i] - v)
	}
	return sum / float64(len(scene.Pix))
}

// TestShadows: noise in linear light has darkened a photograph, and every method raises it again, where the
// noise level is not given; the denoiser by itself is what it is without.
func TestShadows(t *testing.T) {
	noisy, scene := sensed(0.04)
	grey := &restore.Planar{Width: noisy.Width, Height: noisy.Height, Channels: 1, Pix: noisy.Plane(0)}
	for _, method := range []string{"tv", "strict", weights.Fast, "guided", weights.Camera} {
		mended, report, err := restore.Denoise(t.Context(), noisy, restore.Method(method))
		require.NoError(t, err)
		plain, without, err := restore.Denoise(t.Context(), noisy, restore.Method(method), restore.Shadows(false))
		require.NoError(t, err)
		require.Greater(t, report.Noise.ShadowsRaised, 0.01, method)
		require.Greater(t, report.Noise.ShadowSlope, 1.0, method)
		require.Zero(t, without.Noise.ShadowSlope)
		require.Less(t, difference(pixels(mended), scene.Pix), difference(pixels(plain), scene.Pix), method)
		require.Greater(t, darkening(plain, scene), 0.005, method)
		require.Less(t, math.Abs(darkening(mended, scene)), 0.7*darkening(plain, scene), method)
		report.Noise.ShadowsRaised, report.Noise.ShadowSlope = 0, 0
		require.Equal(t, without, report, method)
	}
	for _, o := range [][]restore.Option{
		{restore.Sigma(0.05)},
		{restore.PriorFunc(func(_ context.Context, dst, src *restore.Planar) error { copy(dst.Pix, src.Pix); return nil })},
	} {
		_, report, err := restore.Denoise(t.Context(), noisy, o...)
		require.NoError(t, err)
		require.Zero(t, report.Noise.ShadowSlope)
	}
	_, report, err := restore.Denoise(t.Context(), grey)
	require.NoError(t, err)
	require.Positive(t, report.Noise.ShadowSlope)
	_, _, err = restore.Deblur(t.Context(), noisy, shake(t), restore.Shadows(false))
	require.ErrorContains(t, err, "Shadows")
	// What was added to a finished picture has no skewness.
	_, report, err = restore.Denoise(t.Context(), whitened(still(128, 128)))
	require.NoError(t, err)
	require.Zero(t, report.Noise.ShadowSlope)
}

// whitened is an image with white noise.
func whitened(x *restore.Planar) *restore.Planar { return noisy(x, 0.06, 3) }
