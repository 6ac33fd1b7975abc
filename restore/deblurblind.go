package restore

import (
	"context"
	"errors"
	"image"
	"slices"

	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/outcome"
)

// DeblurBlind removes a blur that is not known (blind deconvolution), and noise, from an image, as the command
// `restore deblur` does without a kernel. blur is what EstimateBlur found in the image; if it is nil, DeblurBlind calls
// EstimateBlur. Report.Blur says what was removed. The rest is as in Deblur, or in DeblurVarying if the camera turned. An image
// with neither blur nor noise is returned unchanged (Report.Unchanged), unless Sigma is given.
func DeblurBlind(ctx context.Context, img image.Image, blur *Blur, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DeblurBlind(ctx, img, blur)
}

// DeblurBlind is the function DeblurBlind with the options of r.
func (r *Restorer) DeblurBlind(ctx context.Context, img image.Image, blur *Blur, options ...Option) (image.Image, *Report, error) {
	c, done, err := r.begin(ctx, taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if blur == nil {
		if blur, err = c.estimateBlur(ctx, img); err != nil {
			return nil, nil, err
		}
	} else if err := blur.check(); err != nil {
		return nil, nil, err
	}
	if blur.none() && !c.sigmaGiven {
		out, report, err := c.noiseless(ctx, img)
		if report != nil || err != nil {
			return out, report.about(blur), err
		}
	}
	if c.asked.domain == eitherDomain {
		c.asked.domain = storedSamples
		if blur.LinearLight {
			c.asked.domain = linearLight
		}
	}
	known := blur.kernels()
	out, report, err := c.run(ctx, img, underBlur(known), removing(known))
	return out, report.about(blur), err
}

// check returns an error unless the blur has what EstimateBlur sets.
func (b *Blur) check() error {
	switch {
	case (b.Turn == nil) == (b.Kernel == nil):
		return errors.New("restore: a blur has either a turn or the report of a kernel; EstimateBlur makes one")
	case b.Kernel != nil && len(b.Grid.Kernels) != 1:
		return errors.New("restore: a blur that is the same all over the frame has one kernel")
	}
	return b.Grid.Check()
}

// estimating is the share of the work of an estimate, about as much as a few steps of the iteration.
const estimating = 0.1

// estimateBlur is EstimateBlur with what a call of Deblur was asked for. What follows reports the rest of the progress.
func (c *plan) estimateBlur(ctx context.Context, img image.Image) (*Blur, error) {
	asked := c.asked
	asked.threads = c.device.Description().Threads
	asked.progress, c.asked.progress = meter.Part(asked.progress, 0, estimating), meter.Part(asked.progress, estimating, 1)
	return asked.estimateBlur(ctx, img)
}

// noiseless returns the image as it is if it has no noise.
func (c *plan) noiseless(ctx context.Context, img image.Image) (image.Image, *Report, error) {
	p, err := open(ctx, img, c.device.Description().Threads)
	if err != nil {
		return nil, nil, err
	}
	e, err := p.noise(ctx, denoising.Meter{Kept: c.kept, Device: c.device})
	if err != nil || e.Kind != outcome.NoNoise {
		return nil, nil, err
	}
	return p.close(slices.Clone(p.planes.Pix)), &Report{
		Unchanged: true, Averagedness: 1, Certified: true,
		Noise: NoiseReport{Estimate: estimateOf(e), Sigma: e.Sigma}, Iteration: IterationReport{Converged: true},
	}, nil
}

// about adds the blur that was estimated to a report, which may be nil.
func (r *Report) about(b *Blur) *Report {
	if r != nil {
		r.Blur = b
	}
	return r
}
