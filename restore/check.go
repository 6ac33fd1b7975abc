package restore

import (
	"context"
	"fmt"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/pnp"
)

// CheckRow is one iteration of both runs of Check.
type CheckRow = pnp.CheckRow

// CheckReport is what Check found.
type CheckReport struct {
	Method string
	// Denoiser explains what is proven of the denoiser, a line each.
	Denoiser string
	// Certificate is what is proven of the iteration.
	Certificate pnp.Certificate
	// Rows are the iterations of the two runs; none without an image.
	Rows []CheckRow
	// Expansion is the largest ratio of the distances of the two runs after and
	// before an iteration.
	Expansion float64
	// Holds tells whether something is proven and nothing contradicts it;
	// Violations are the contradictions.
	Holds      bool
	Violations []string
}

// checkIterations is how many iterations Check makes unless told otherwise.
const checkIterations = 100

// Check prints what is proven of a method's denoiser and of the plug-and-play
// iteration with it, and, given an image, tries to contradict it: the iteration
// for that image as the blurred one runs from two starts, the image itself and
// uniform grey, and its residuals and the distance of the two runs are held
// against their bounds. Without an image (nil) the certificate is all. Without a
// kernel (the zero value) a motion blur of 15 pixels is taken. Of the options
// those of Deblur apply; Iterations is the number of iterations of either run.
func Check(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (*CheckReport, error) {
	c, err := newSettings(options)
	if err != nil {
		return nil, err
	}
	if kernel.Weights == nil {
		if kernel, err = deblur.Motion(15, 30); err != nil {
			return nil, err
		}
	}
	p := picture{planar: NewPlanar(3, 32, 32)}
	if img != nil {
		if p, err = open(img); err != nil {
			return nil, err
		}
	} else if !c.sigmaGiven {
		c.sigma, c.sigmaGiven = 0.05, true // of no matter to a certificate
	}
	report := &Report{Method: c.method}
	if err := report.findSigma(c, p.planar); err != nil {
		return nil, err
	}
	dev, done := c.open()
	defer done()
	problem, err := newDeblurring(dev, p.planar, kernel, c, report)
	if err != nil {
		return nil, err
	}
	defer problem.free()
	return problem.check(ctx, c, img == nil)
}

func (d *deblurring) check(ctx context.Context, c settings, certificateOnly bool) (*CheckReport, error) {
	var trials [2]pnp.Trial
	for i, s := range []StartingPoint{StartImage, StartConstant} {
		prox, err := d.prox()
		if err != nil {
			return nil, err
		}
		defer prox.Free()
		start, err := d.start(ctx, s)
		if err != nil {
			return nil, err
		}
		defer start.Free()
		trials[i] = pnp.Trial{Start: start, Denoiser: prox}
	}
	limit := c.iterations
	if limit == 0 {
		limit = checkIterations
	}
	if certificateOnly {
		limit = 1
	}
	meter := newMeter(c.progress, 0)
	found, err := pnp.Check(ctx, d.dev, d.y, d.k, trials, pnp.Options{
		Step: c.step, Constraint: c.constraint, MaxIterations: limit,
		Progress: func(p pnp.Progress) error {
			return meter.report(float64(p.Iteration)/float64(p.MaxIterations), p.Iteration, p.Residual)
		},
	})
	if err != nil {
		return nil, err
	}
	alpha, _ := trials[0].Denoiser.Averagedness()
	report := &CheckReport{
		Method:      c.method,
		Denoiser:    d.describe(alpha, certificateOnly),
		Certificate: found.Certificate,
		Holds:       found.Holds(),
		Violations:  found.Violations,
	}
	if !certificateOnly {
		report.Rows, report.Expansion = found.Rows, found.Expansion
	}
	return report, meter.end()
}

// describe is the certificate of the proximal map of total variation; in general
// terms where there is no image whose noise sets its weight.
func (d *deblurring) describe(alpha float64, general bool) string {
	weight := "τλ"
	if !general {
		weight = fmt.Sprintf("%.6g", d.step*d.weight)
	}
	return fmt.Sprintf(`Φ = proximal map of %s·TV, coupling %v
Φ is firmly nonexpansive, that is %g-averaged: it is the proximal map of a convex function (Moreau 1965)
the orthonormal change of colour axes keeps that: Uᵀ·prox·U is the proximal map of f(U·)
computed with a duality gap, by strong convexity ‖u − Φ(y)‖ ≤ √(2·gap); the errors are in the bounds below
assumed: float32 arithmetic adds rounding errors of about 1e-7 relative, which the proof does not cover`, weight, d.coupling, alpha)
}

var _ pnp.Operator = (*deblur.Operator)(nil)
