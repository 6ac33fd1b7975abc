package restore

import (
	"context"
	"image"

	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/outcome"
)

// Denoise removes noise like additive white Gaussian noise from an image. It
// estimates the noise level unless Sigma gives one, and uses DefaultMethod unless Method
// names another or weights are given; for noise that is coarse (NoiseKind) and smoothed, as cameras
// leave it, it uses "camera" then, as far as the program has its weights.
//
// The result has the size, colour channels, bit depth and alpha of the image. For
// a *Planar it is a *Planar, neither rounded nor clipped; for all others
// *image.Gray, *image.Gray16, *image.NRGBA or *image.NRGBA64. Colours are
// restored as they are stored, not multiplied by alpha.
//
// What is invisible (alpha 0) takes no part: before the run it is filled by diffusion from the visible
// pixels, so that no hidden colour shows at an edge, and the noise is measured in the largest rectangle
// that is visible throughout (in the whole image, if that is small or few pixels are invisible). In the
// result invisible pixels are as they were, to the bit, so that nothing is lost that a program has put
// there. An image of which nothing is visible is restored as if all were.
//
// With method "tv" the result is the proximal map of α·TV (package tv) to a
// relative duality gap of Tolerance, with α from the noise level (tv.Tuned) times
// Strength.
//
// With a network (Method, Weights, Network) it is Φ_s(x) = s·Φ(x/s), where s is Strength times
// the noise level over the one that the network is for: so one network serves all
// noise levels, with the certificate that it has (Report.Network.Certificate). Below a noise level of
// 0.001, about what rounding to 8 bits leaves, s falls no further. Of
// a network for all noise levels (denoise.Network.Levels) it is the one for Strength
// times the noise level, with a certificate that follows from that of all. A network that has
// a certificate follows the image, too (Adaptation). One with a guide (method "guided") is frozen for
// the image instead (Report.Network.Guide): the guide, a network of which nothing is proven, looks at it
// once and sets the radii of the projections for every pixel, times Strength, and what is proven
// is of the network with these radii, whatever they are. Unless Sigma is given, the guide is told a noise level for every
// square of 16 pixels (NoiseEstimate.Levels). A grey image, also one that is kept as colour,
// goes through a colour network as three equal channels, whose results are averaged, with √3
// times the noise level: that is the noise of three equal channels along the axis of brightness.
//
// Hot pixels and salt and pepper are filled before all else (Report.Noise.Impulses). Shadows that noise has darkened
// are raised at the end (Shadows, Report.Noise.Shadows). An image in which there is
// nothing to remove, as a screenshot or a drawing, comes back as it is.
func Denoise(ctx context.Context, img image.Image, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDenoise, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Denoise(ctx, img)
}

// Denoise does what the function Denoise does.
func (r *Restorer) Denoise(ctx context.Context, img image.Image, options ...Option) (image.Image, *Report, error) {
	return r.run(ctx, taskDenoise, img, options, denoising.Meter.Map,
		func(ctx context.Context, c plan, p *picture, report *outcome.Report) ([]float32, error) {
			return c.denoising().Denoise(ctx, p.planar.planes(), report)
		})
}
