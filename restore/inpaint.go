package restore

import (
	"context"
	"image"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/inpaint"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/maskimage"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/operator"
)

// ErrMask is wrapped by errors about a mask that does not fit its image, that marks no pixel, or that leaves none.
var ErrMask = maskimage.ErrMask

// Inpaint fills missing pixels, such as scratches, writing, dust, and pixels that a sensor lost. White in the mask
// marks the pixels to fill; black and transparent ones are kept. A pixel counts as white if it is brighter than the
// darkest one by a tenth of the range, so that soft edges of strokes are filled too, or if its largest channel exceeds
// its smallest one by a quarter, so strokes of any colour on black are a mask, and so are those on white. If the mask is
// partly transparent and its visible part is not black and white, all visible pixels are filled, also black ones. In a
// copy of the image, the pixels are filled that were painted over or erased. The mask must have the size of the image,
// and both kinds of pixels. If it marks more than three quarters, Report.Doubts asks whether it is
// inverted, and if a quarter is neither black nor white, whether it is a photograph.
//
// The samples of img in missing pixels have no influence. There the samples of a *Planar may be NaN or infinite.
//
// Inpaint runs the plug-and-play proximal gradient iteration of Deblur, where K is the projection onto the known
// pixels. It starts from a diffusion of these into the holes. A network without a guide runs twice, as in Deblur. The
// default prior is the first of "original", "guided", "general", "strict" and "tv" that the program has; Method,
// Weights or Prior choose another. Strength, Iterations, Tolerance, StepSize and Constraint act as in Deblur. A dark
// image is brightened for the run.
//
// By default the noise level is 0: the known pixels are exact, and the result has the same bits there. Sigma or
// SigmaAuto declare them noisy, and the noise is removed too. Kernel removes a blur as well; Boundary then says what
// lies beyond the frame.
//
// The type of the result and errors are as in Denoise; errors about the mask wrap ErrMask. Filled pixels keep their
// alpha. Invisible pixels of img count as missing.
func Inpaint(ctx context.Context, img, mask image.Image, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskInpaint, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Inpaint(ctx, img, mask)
}

// Inpaint is the function Inpaint with the options of r.
func (r *Restorer) Inpaint(ctx context.Context, img, mask image.Image, options ...Option) (image.Image, *Report, error) {
	if p, ok := img.(*Planar); ok && p != nil && p.Check() != nil && mask != nil {
		own := *p
		own.Pix = slices.Clone(p.Pix)
		// The run reports what is still wrong then with the image or the mask.
		if err := maskimage.ForgetMissing((*imageplanes.Planes)(&own), mask); err == nil {
			img = &own
		}
	}
	return r.run(ctx, taskInpaint, img, options, nil,
		func(ctx context.Context, c plan, p *opened, report *outcome.Report) ([]float32, error) {
			known, doubt, err := maskimage.Known(mask, p.planes)
			if err != nil {
				return nil, err
			}
			if doubt.Text != "" {
				report.Doubts = append(report.Doubts, doubt)
			}
			shared := c.asked.compressed
			known = maskimage.Widen(known, p.planes.Width, max(shared.ChromaX-1, 0), max(shared.ChromaY-1, 0))
			return solveInpainting(ctx, p.planes, known, c, report)
		})
}

func solveInpainting(ctx context.Context, p *imageplanes.Planes, known []bool, c plan, report *outcome.Report) ([]float32, error) {
	dev := c.device
	mask, err := inpaint.NewMask(dev, known, p.Height, p.Width)
	if err != nil {
		return nil, err
	}
	defer mask.Free()
	filled := make([]float32, len(p.Pix))
	if err := mask.Diffuse(ctx, filled, p.Pix); err != nil {
		return nil, err
	}
	report.Noise.Sigma = c.sigma
	if !c.sigmaGiven {
		// Holes filled smoothly have less noise, so that where they are many the
		// estimate is too low, which spares the picture.
		e, err := denoising.White(p.WithPix(filled))
		if err != nil {
			return nil, err
		}
		report.Noise.Sigma, report.Noise.Estimate = e.Sigma, &e
	}
	out, err := inRange(p.WithPix(filled), c, report, func(filled *imageplanes.Planes, peak float64) ([]float32, error) {
		return solveFilled(ctx, filled, mask, known, peak, c, report)
	})
	if err == nil && c.asked.kernel == nil && report.Noise.Sigma == 0 {
		for i, v := range p.Pix {
			if known[i%len(known)] {
				out[i] = v
			}
		}
	}
	return out, err
}

// solveFilled begins at an image whose missing pixels are filled.
func solveFilled(ctx context.Context, filled *imageplanes.Planes, mask *inpaint.Mask, known []bool, peak float64, c plan, report *outcome.Report) ([]float32, error) {
	dev := c.device
	// Samples of missing pixels must not count.
	measured := make([]float32, len(filled.Pix))
	for i, v := range filled.Pix {
		if known[i%len(known)] {
			measured[i] = v
		}
	}
	problem := inverse.Problem{K: mask, Channels: filled.Channels, Y: measured, Start: filled.Pix, Prior: inverse.Inpainting(report.Noise.Sigma, filled.Channels), Peak: peak}
	if c.asked.kernel == nil {
		return problem.Solve(ctx, dev, c.choice, c.iteration(), report)
	}
	blur, err := deblur.New(dev, *c.asked.kernel, c.boundary, filled.Height, filled.Width)
	if err != nil {
		return nil, err
	}
	defer blur.Free()
	both, err := operator.Compose(dev, mask, blur)
	if err != nil {
		return nil, err
	}
	defer both.Free()
	h, w := both.Domain()
	problem.K, problem.Start = both, make([]float32, filled.Channels*h*w)
	if err := blur.Extend(problem.Start, filled.Pix); err != nil {
		return nil, err
	}
	whole, err := problem.Solve(ctx, dev, c.choice, c.iteration(), report)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(filled.Pix))
	return out, blur.Crop(out, whole)
}
