package restore

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/rawdenoise"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/weights"
)

// RawReport describes the noise of a raw image.
type RawReport struct {
	// Noise is the variance of red, green and blue in a mosaic, else of each channel.
	Noise []raw.Noise
	// Claimed reports that the noise could not be measured, and that Noise is what the camera claims.
	Claimed bool
	// HotPixels is the number of hot and dead pixels that were filled.
	HotPixels int
	// Demosaicked is the method used for the demosaicked image, or "" if there was none.
	Demosaicked string
}

// DenoiseRaw removes noise from the image of a raw photograph, before any development. It measures in each colour how
// the variance grows with the light. The generalised Anscombe transform makes that noise white, and its exact
// unbiased inverse follows the denoising (Mäkitalo and Foi 2013). A mosaic is denoised twice, in squares of 2×2
// pixels by "guided" and demosaicked by "camera", and the result is a mean of both. LinearRaw is denoised like a picture.
// Method, Weights or Network replace both networks; CoarseNetwork replaces "camera".
//
// Hot and dead pixels of a mosaic are filled first: single samples far outside of their neighbours of the same colour, where the
// pixels between look like theirs. Local means of each colour are kept. Other saturated samples stay as they are. An image without noise is returned
// unchanged (Report.Unchanged).
//
// The certificate is of the networks, each frozen for this photograph, in the transformed image. It does not cover
// the transform, the demosaicking and the means. Averagedness is that of the weaker network, and Network.Certificate
// is of the one for squares. Noise.Sigma is 1 in the transformed image, and Report.Raw has the noise.
//
// An error says that the image is invalid, that its noise can neither be measured nor is claimed, or that a denoiser
// failed as in Denoise.
func DenoiseRaw(ctx context.Context, img *raw.Image, options ...Option) (*raw.Image, *Report, error) {
	r, err := forOne(taskDenoiseRaw, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DenoiseRaw(ctx, img)
}

// Demosaicking colours noise. What a network is told is this much of the standard deviation of a sample: of "camera", which has learned
// such noise, and of others. By measurement on simulated raw images from ISO 400 to 25600.
const (
	demosaickedCamera = 1.65
	demosaickedOther  = 1.75
)

// demosaickedShare is about how much of the time of DenoiseRaw the demosaicked image takes; the rest is that of two calls for the
// squares of the mosaic.
const demosaickedShare = 2. / 3

// DenoiseRaw is the function DenoiseRaw with the options of r.
func (r *Restorer) DenoiseRaw(ctx context.Context, img *raw.Image, options ...Option) (*raw.Image, *Report, error) {
	c, done, err := r.begin(ctx, taskDenoiseRaw, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	demosaicked, factor, method := c.choice, float64(demosaickedOther), ""
	if c.coarse != nil {
		if demosaicked, err = c.coarse(); err != nil {
			return nil, nil, err
		}
	}
	if demosaicked.Method == weights.Camera {
		factor = demosaickedCamera
	}
	progress := meter.New(c.asked.progress, 0)
	// How much of the work is done, and how much of it one call for white noise is.
	at, share := 0., (1-demosaickedShare)/2
	if img != nil && !img.Mosaic {
		share = 1
		if img.Samples != 3 {
			share = 1 / float64(max(img.Samples, 1))
		}
	}
	report := outcome.Report{}
	all := outcome.Report{Averagedness: 1, Certified: true}
	all.Iteration.Converged = true
	part := func(ctx context.Context, choice *networks.Choice, p rawdenoise.Picture, sigma, share float64) ([]float32, error) {
		from := at
		at += share
		pix, err := c.denoisePart(ctx, choice, p, sigma, progress, from, at, &report)
		if from == 0 {
			all.Averagedness = 0
		}
		all.Averagedness = max(all.Averagedness, report.Averagedness)
		all.Certified = all.Certified && report.Certified
		all.Iteration.Converged = all.Iteration.Converged && report.Iteration.Converged
		all.Iteration.Residual = max(all.Iteration.Residual, report.Iteration.Residual)
		return pix, err
	}
	out, found, err := rawdenoise.Denoise(ctx, img, rawdenoise.Denoisers{
		White: func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
			return part(ctx, c.choice, p, sigma, share)
		},
		Demosaicked: func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
			pix, err := part(ctx, demosaicked, p, factor*sigma, demosaickedShare)
			method = report.Method
			return pix, err
		},
	})
	if err != nil {
		return nil, nil, err
	}
	report.Averagedness, report.Certified = all.Averagedness, all.Certified
	report.Iteration.Converged, report.Iteration.Residual = all.Iteration.Converged, all.Iteration.Residual
	report.Unchanged = found.Unchanged
	report.Noise.Sigma = 1
	said := reportOf(&report)
	said.Raw = &RawReport{Noise: found.Noise, Claimed: found.Claimed, HotPixels: found.Hot, Demosaicked: method}
	return out, said, progress.End()
}

// denoisePart denoises one of the pictures that a raw image becomes, which is the given part of all the work.
func (p *plan) denoisePart(ctx context.Context, choice *networks.Choice, picture rawdenoise.Picture, sigma float64, progress *meter.Meter, from, to float64, report *outcome.Report) ([]float32, error) {
	job := p.denoising()
	job.Choice, job.Coarse, job.Device, job.Overwrite = choice, nil, choice.Device(p.device), true
	job.Progress = func(at backend.Progress) error {
		return progress.Report(from+(to-from)*at.Fraction, at.Iteration, at.Residual)
	}
	*report = outcome.Report{Method: choice.Method, Noise: outcome.Noise{Sigma: sigma}}
	planes := imageplanes.Planes{Width: picture.Width, Height: picture.Height, Channels: picture.Channels, Pix: picture.Pix}
	return job.Denoise(ctx, &planes, report)
}
