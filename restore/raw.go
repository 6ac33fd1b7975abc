package restore

import (
	"context"
	"errors"
	"runtime"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/rawdenoise"
	"github.com/averaged/imaging/raw"
)

// RawReport describes the noise of a raw image.
type RawReport struct {
	// Noise is the variance of red, green and blue in a mosaic, else of each channel.
	Noise []raw.Noise
	// Claimed reports that the noise could not be measured, and that Noise is what the camera claims.
	Claimed bool
	// HotPixels is the number of hot and dead pixels that were filled.
	HotPixels int
}

// DenoiseRaw removes noise from the image of a raw photograph, before any development. It measures in each colour how
// the variance grows with the light. The generalised Anscombe transform makes that noise white, and its exact
// unbiased inverse follows the denoising (Mäkitalo and Foi 2013). A mosaic is demosaicked along edges, denoised by "raw", and looked at
// through the filters again. LinearRaw is denoised by the default of Denoise. Method, Weights or Network replace either network.
//
// Hot and dead pixels of a mosaic are filled first: single samples far outside of their neighbours of the same colour, where the
// pixels between look like theirs. Local means of each colour are kept. Other saturated samples stay as they are. An image without noise is returned
// unchanged (Report.Unchanged).
//
// The certificate is of the network, frozen for this photograph, in the transformed image. It does not cover
// the transform, the demosaicking and the means. Noise.Sigma is 1 in the transformed image, and Report.Raw has the noise.
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

// DenoiseRawFile is DenoiseRaw of the image of f with less memory: it makes that image again where it needs it.
func DenoiseRawFile(ctx context.Context, f *raw.File, options ...Option) (*raw.Image, *Report, error) {
	r, err := forOne(taskDenoiseRaw, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DenoiseRawFile(ctx, f)
}

// DenoiseRaw is the function DenoiseRaw with the options of r.
func (r *Restorer) DenoiseRaw(ctx context.Context, img *raw.Image, options ...Option) (*raw.Image, *Report, error) {
	return r.denoiseRaw(ctx, img, func() *raw.Image { return img }, options)
}

// DenoiseRawFile is the function DenoiseRawFile with the options of r.
func (r *Restorer) DenoiseRawFile(ctx context.Context, f *raw.File, options ...Option) (*raw.Image, *Report, error) {
	if f == nil {
		return nil, nil, errors.New("restore: the raw file is nil")
	}
	return r.denoiseRaw(ctx, f.Image(), f.Image, options)
}

// denoiseRaw denoises an image that again returns once more.
func (r *Restorer) denoiseRaw(ctx context.Context, img *raw.Image, again func() *raw.Image, options []Option) (*raw.Image, *Report, error) {
	c, done, err := r.begin(ctx, taskDenoiseRaw, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	parts := 1 // of the work
	switch {
	case img == nil: // which is refused
	case img.Mosaic:
		if c.mosaic != nil {
			if c.choice, err = c.mosaic(); err != nil {
				return nil, nil, err
			}
		}
	case img.Samples != 3:
		parts = max(img.Samples, 1)
	}
	progress := meter.New(c.asked.progress, 0)
	at := 0 // parts that are done
	report := outcome.Report{}
	all := outcome.Report{Certified: true}
	all.Iteration.Converged = true
	out, found, err := rawdenoise.Denoise(ctx, img, again, func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
		pix, err := c.denoisePart(ctx, p, sigma, progress, float64(at)/float64(parts), float64(at+1)/float64(parts), &report)
		at++
		all.Averagedness = max(all.Averagedness, report.Averagedness)
		all.Certified = all.Certified && report.Certified
		all.Iteration.Converged = all.Iteration.Converged && report.Iteration.Converged
		all.Iteration.Residual = max(all.Iteration.Residual, report.Iteration.Residual)
		return pix, err
	})
	if err != nil {
		return nil, nil, err
	}
	if report.Unchanged = found.Unchanged; report.Unchanged {
		all.Averagedness = 1
	}
	report.Averagedness, report.Certified = all.Averagedness, all.Certified
	report.Iteration.Converged, report.Iteration.Residual = all.Iteration.Converged, all.Iteration.Residual
	report.Noise.Sigma = 1
	said := reportOf(&report)
	said.Raw = &RawReport{Noise: found.Noise, Claimed: found.Claimed, HotPixels: found.Hot}
	return out, said, progress.End()
}

// denoisePart denoises one of the pictures that a raw image becomes, which is the given part of all the work.
func (p *plan) denoisePart(ctx context.Context, picture rawdenoise.Picture, sigma float64, progress *meter.Meter, from, to float64, report *outcome.Report) ([]float32, error) {
	job := p.denoising()
	job.Coarse, job.Device, job.Overwrite = nil, p.choice.Device(p.device), true
	job.Progress = func(at backend.Progress) error {
		return progress.Report(from+(to-from)*at.Fraction, at.Iteration, at.Residual)
	}
	*report = outcome.Report{Method: p.choice.Method, Noise: outcome.Noise{Sigma: sigma}}
	planes := imageplanes.Planes{Width: picture.Width, Height: picture.Height, Channels: picture.Channels, Pix: picture.Pix}
	pix, err := job.Denoise(ctx, &planes, report)
	if len(pix) >= largePart {
		// The picture and the radii are garbage of twice the size of the mosaic and more. A collector beside what follows comes too late.
		runtime.GC()
	}
	return pix, err
}

// largePart is how many samples a picture has whose computation takes far longer than a collection of garbage.
const largePart = 12e6
