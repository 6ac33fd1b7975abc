package restore

import (
	"context"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/outcome"
)

// OptionsForPart returns options with which Deblur, DeblurVarying and DeblurBlind restore a part of an image as they restore the
// whole: whether light was blurred, and how strong the noise is. kernels has those of the whole image. Other options are those of
// the call.
func OptionsForPart(ctx context.Context, whole image.Image, kernels deblur.Grid, options ...Option) ([]Option, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, err
	}
	defer r.close()
	c, done, err := r.begin(ctx, taskDeblur, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := kernels.Check(); err != nil {
		return nil, err
	}
	threads := c.device.Description().Threads
	p, err := open(ctx, whole, threads)
	if err != nil {
		return nil, err
	}
	if p, _, err = p.prepared(ctx, false); err != nil {
		return nil, err
	}
	blurred := StoredSamples()
	light, err := c.asked.showsLight(ctx, p.planes, kernels, threads)
	if err != nil {
		return nil, err
	}
	if light {
		blurred = LinearLight()
	}
	var report outcome.Report
	err = c.findNoise(ctx, &report, p.measured(), underBlur(deblurring.ManyKernels(kernels)))
	if e := report.Noise.Estimate; e != nil {
		return []Option{blurred, option{"OptionsForPart", Noise(*estimateOf(*e)).change}}, err
	}
	return []Option{blurred}, err
}
