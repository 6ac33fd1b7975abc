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

// ErrMask is wrapped by the errors about a mask that does not fit its image, or that leaves
// nothing to do or nothing to do it from.
var ErrMask = maskimage.ErrMask

// Inpaint fills missing pixels: scratches, writing, dust, pixels that a sensor lost. White
// in the mask marks the pixels to fill, black those that are kept; what is brighter than
// half is white, and transparent counts as black. So strokes in any colour on black are a mask:
// a pixel also counts as white if its largest channel exceeds its smallest by a quarter of white.
// Where the mask is partly transparent and what is visible of it is not in black and white, all
// that is visible marks the pixels to fill, black strokes too. The mask has the size of the image,
// with at least one pixel of either kind; if it covers more than three quarters, Report.Doubts
// asks whether it is inverted.
//
// What img has in missing pixels does not count. Only there may the samples of a *Planar be NaN
// or infinite.
//
// The pixels are found by the plug-and-play proximal gradient iteration of Deblur, whose K
// is the projection onto the known pixels, started from a diffusion of these into the
// holes; with a network it is run twice, as there. The prior is the first of "original", "guided",
// "general", "strict" and "tv" that the program has unless Method names another, or weights or a Prior are given, and Strength, Iterations, Tolerance, StepSize and
// Constraint act as in Deblur.
//
// Unlike elsewhere the noise level is 0 by default: the known pixels are right, and the
// result has them as they are, to the bit. With Sigma or SigmaAuto they are noisy, and the
// noise is removed with the filling; so is a blur with Kernel, for which Boundary says what
// is beyond the frame.
//
// What is said of the result of Denoise holds here too. Filled pixels are as opaque as they
// were. What is invisible in the image is as unknown as what the mask marks.
func Inpaint(ctx context.Context, img, mask image.Image, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskInpaint, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Inpaint(ctx, img, mask)
}

// Inpaint does what the function Inpaint does.
func (r *Restorer) Inpaint(ctx context.Context, img, mask image.Image, options ...Option) (image.Image, *Report, error) {
	if p, ok := img.(*Planar); ok && p != nil && p.Check() != nil && mask != nil {
		own := *p
		own.Pix = slices.Clone(p.Pix)
		// What is still wrong then, with the image or with the mask, run says.
		if err := maskimage.ForgetMissing((*imageplanes.Planes)(&own), mask); err == nil {
			img = &own
		}
	}
	return r.run(ctx, taskInpaint, img, options, nil,
		func(ctx context.Context, c plan, p *picture, report *outcome.Report) ([]float32, error) {
			known, doubt, err := maskimage.Known(mask, p.planar.planes())
			if err != nil {
				return nil, err
			}
			if doubt != "" {
				report.Doubts = append(report.Doubts, doubt)
			}
			return solveInpainting(ctx, p.planar, known, c, report)
		})
}

func solveInpainting(ctx context.Context, p *Planar, known []bool, c plan, report *outcome.Report) ([]float32, error) {
	dev := c.device
	mask, err := inpaint.NewMask(dev, known, p.Height, p.Width)
	if err != nil {
		return nil, err
	}
	defer mask.Free()
	filled := make([]float32, len(p.Pix))
	if err := mask.Diffuse(filled, p.Pix); err != nil {
		return nil, err
	}
	report.Noise.Sigma = c.sigma
	if !c.sigmaGiven {
		// Holes filled smoothly have less noise, so that where they are many the
		// estimate is too low, which spares the picture.
		e, err := denoising.White(p.planes().WithPix(filled))
		if err != nil {
			return nil, err
		}
		report.Noise.Sigma, report.Noise.Estimate = e.Sigma, &e
	}
	// What the image has in missing pixels must not count.
	measured := make([]float32, len(p.Pix))
	for i, v := range p.Pix {
		if known[i%len(known)] {
			measured[i] = v
		}
	}
	problem := inverse.Problem{K: mask, Channels: p.Channels, Y: measured, Start: filled, Prior: inverse.Inpainting(report.Noise.Sigma, p.Channels)}
	if c.asked.kernel == nil {
		out, err := problem.Solve(ctx, dev, c.choice, c.iteration(), report)
		if err == nil && report.Noise.Sigma == 0 {
			for i, v := range p.Pix {
				if known[i%len(known)] {
					out[i] = v
				}
			}
		}
		return out, err
	}

	blur, err := deblur.New(dev, *c.asked.kernel, c.boundary, p.Height, p.Width)
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
	problem.K, problem.Start = both, make([]float32, p.Channels*h*w)
	if err := blur.Extend(problem.Start, filled); err != nil {
		return nil, err
	}
	whole, err := problem.Solve(ctx, dev, c.choice, c.iteration(), report)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(p.Pix))
	return out, blur.Crop(out, whole)
}
