package restore

import (
	"context"
	"image"

	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/outcome"
)

// Denoise removes noise from an image. It estimates the noise level unless Sigma gives it. The default denoiser is
// the first of "guided", "general", "strict" and "tv" that the program has, or "camera" for coarse noise
// (NoiseEstimate.Kind). Method, Weights, Network or Prior choose another.
//
// The result has the size, the colour channels, the bit depth and the alpha of img, which is not changed. It is a *Planar if
// img is one, neither rounded nor clipped; else an *image.Gray, *image.Gray16, *image.NRGBA or *image.NRGBA64. Its bounds
// begin at (0,0), also if those of img, such as a SubImage, do not. Colours are restored as stored, not multiplied by alpha.
//
// Invisible pixels (alpha 0) have no influence: they are filled from the visible ones by diffusion first, and the
// result has the stored colours again, to the bit. If all pixels are invisible, the image is restored as if they were
// visible.
//
// Method "tv" computes the proximal map of α·TV (package tv) to a relative duality gap of Tolerance. α follows from
// the noise level (tv.Tuned) times Strength.
//
// A network for one noise level is used as Φ_s(x) = s·Φ(x/s), where s is Strength times the noise level of the image
// over that of the network. The certificate stays. Below a noise level of 0.001, about what rounding to 8 bits adds,
// s falls no further. A network for several noise levels (denoise.Network.Levels) is used at Strength times the noise
// level; its certificate follows from the one for all of them. The strength of a certified network also follows the
// image (Adaptation).
//
// A network with a guide, such as "guided", is frozen for the image instead: its guide looks at the image once and
// sets the radii of the projections for every pixel, times Strength (Report.Network.Guide). Nothing is proven of the
// guide. The certificate is of the network with these radii, and holds for any radii. Unless Sigma is given, the
// guide is given a noise level for each square of 16 pixels (NoiseEstimate.Levels).
//
// A grey image, also one kept as colour, goes through a colour network as three equal channels with √3 times the
// noise level. Their results are averaged. If the noise is white and the network has a guide, as much fixed noise is added
// along both axes of colour: so the network has learned it. An image whose noise is in brightness alone is denoised like its
// brightness, and keeps its colours.
//
// An image that consists of squares of n×n equal pixels was enlarged by nearest neighbour. One pixel of each is restored and
// repeated, unless Prior chooses the denoiser.
//
// Denoise fills hot pixels, and salt and pepper, first (Report.Noise.Impulses). It brightens shadows that noise has
// darkened last (Shadows). An image without noise, such as a screenshot, is returned unchanged (Report.Unchanged).
//
// An error says that an option (*OptionError, ErrMethod) or the image (ErrImage) is invalid, that there are no weights, that
// memory is short (backend.ErrOutOfMemory), or that the device failed. It wraps ctx.Err() if ctx ends.
func Denoise(ctx context.Context, img image.Image, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDenoise, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Denoise(ctx, img)
}

// Denoise is the function Denoise with the options of r.
func (r *Restorer) Denoise(ctx context.Context, img image.Image, options ...Option) (image.Image, *Report, error) {
	return r.run(ctx, taskDenoise, img, options, denoising.Meter.Map,
		func(ctx context.Context, c plan, p *opened, report *outcome.Report) ([]float32, error) {
			return c.denoising().Denoise(ctx, p.planes, report)
		})
}
