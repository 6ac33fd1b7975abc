package restore

import (
	"context"
	"image"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/tv"
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
// noise levels, with the certificate that it has (Report.Network). Below a noise level of
// 0.001, about what rounding to 8 bits leaves, s falls no further. Of
// a network for all noise levels (denoise.Network.Levels) it is the one for Strength
// times the noise level, with a certificate that follows from that of all. A network that has
// a certificate follows the image, too (Adaptation). One with a guide (method "guided") is frozen for
// the image instead (Report.Guide): the guide, a network of which nothing is proven, looks at it
// once and sets the radii of the projections for every pixel, times Strength, and what is proven
// is of the network with these radii, whatever they are. Unless Sigma is given, the guide is told a noise level for every
// square of 16 pixels (NoiseEstimate.Levels). A grey image, also one that is kept as colour,
// goes through a colour network as three equal channels, whose results are averaged, with √3
// times the noise level: that is the noise of three equal channels along the axis of brightness.
//
// Hot pixels and salt and pepper are filled before all else (Report.Impulses). Shadows that noise has darkened
// are raised at the end (Shadows, Report.Shadows). An image in which there is
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
	return r.run(ctx, taskDenoise, img, options, settings.mapNoise,
		func(ctx context.Context, _ backend.Device, pic *picture, c settings, report *Report) ([]float32, error) {
			p := pic.planar
			if report.noiseless() && c.prior == nil {
				report.Unchanged, report.Method = report.Impulses == 0, ""
				report.Converged, report.Averagedness, report.Certified = true, 1, true
				return slices.Clone(p.Pix), newMeter(c.progress, 0).end()
			}
			c, err := c.forNoise(report)
			if err != nil {
				return nil, err
			}
			// A dark image is denoised in the range that the networks have learned.
			pix, factor := p.brightened()
			if factor == 1 {
				out, err := denoiseBright(ctx, c.on(), p, c, report)
				if err == nil {
					c.mendShadows(p, out, report)
				}
				return out, err
			}
			bright := &Planar{Width: p.Width, Height: p.Height, Channels: p.Channels, Pix: pix}
			out, err := denoiseBright(ctx, c.on(), bright, c, report.times(float64(factor)))
			for i := range out {
				out[i] /= factor
			}
			report.times(1 / float64(factor))
			return out, err
		})
}

// times multiplies the noise level, and returns the report.
func (r *Report) times(factor float64) *Report {
	r.Sigma *= factor
	if r.Estimate == nil || r.Estimate.Levels == nil {
		return r
	}
	e := *r.Estimate
	e.Sigma *= factor
	for k, m := range e.levels {
		scaled := *m
		scaled.Sigma = slices.Clone(m.Sigma)
		for i := range scaled.Sigma {
			scaled.Sigma[i] *= float32(factor)
		}
		if e.levels[k] = &scaled; e.Levels == m {
			e.Levels = &scaled
		}
	}
	r.Estimate = &e
	return r
}

// denoiseBright denoises an image whose brightest samples are near white.
func denoiseBright(ctx context.Context, dev backend.Device, p *Planar, c settings, report *Report) ([]float32, error) {
	if c.prior != nil {
		return denoisePrior(ctx, dev, p, c, report)
	}
	if c.method == TV {
		return denoiseTV(ctx, dev, p, c, report)
	}
	return denoiseNetwork(ctx, dev, p, c, report)
}

// findSigma takes the noise level or its estimate from the settings, or estimates it by measure.
func (r *Report) findSigma(ctx context.Context, c settings, p *Planar, measure func(settings, context.Context, *Planar) (NoiseEstimate, error)) error {
	r.Sigma = c.sigma
	if c.sigmaGiven {
		r.SigmaGiven = c.sigma
		return nil
	}
	var e NoiseEstimate
	if c.noise != nil {
		e = *c.noise
	} else {
		var err error
		if e, err = measure(c, ctx, p); err != nil {
			return err
		}
	}
	r.Sigma, r.Estimate = e.Sigma, &e
	if !e.Reliable && e.Note != "" {
		r.Doubts = append(r.Doubts, "sigma: "+e.Note)
	}
	return nil
}

// noiseless says that the noise was measured, and that there is none at all.
func (r *Report) noiseless() bool { return r.Estimate != nil && r.Estimate.Sigma == 0 }

// on returns the device to compute on.
func (c settings) on() backend.Device {
	if c.network != nil {
		return c.network.Device()
	}
	return c.device
}

// denoiseTV solves the proximal problem of total variation for all channels.
func denoiseTV(ctx context.Context, dev backend.Device, p *Planar, c settings, report *Report) ([]float32, error) {
	shape := p.shape()
	alpha, coupling := tv.Tuned(report.Sigma, shape.C)
	report.Weight = alpha * c.strength
	report.Tolerance = c.tolerance
	if report.Tolerance == 0 {
		report.Tolerance = tv.DefaultRelativeGap
	}
	meter := newMeter(c.progress, report.Tolerance)
	prox, err := tv.New(dev, shape, tv.Options{
		Alpha: report.Weight, Coupling: coupling, RelativeGap: report.Tolerance, MaxIterations: c.iterations,
		Progress: func(p backend.Progress) error { return meter.report(p.Fraction, p.Iteration, p.Residual) },
	})
	if err != nil {
		return nil, err
	}
	defer prox.Free()
	report.Averagedness, report.Certified = prox.Averagedness()
	src, err := lend(dev, shape, p.Pix)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	out := make([]float32, shape.Len())
	dst, fetch, err := borrow(dev, shape, out)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	if err := prox.Apply(ctx, dst, src); err != nil {
		return nil, err
	}
	if err := fetch(); err != nil {
		return nil, err
	}
	solved := prox.Report()
	for _, g := range solved.Groups {
		report.Iterations = max(report.Iterations, g.Iterations)
	}
	report.Converged, report.Residual = solved.Converged, solved.RelativeGap()
	return out, meter.end()
}

// lend puts samples on the device, without a copy where that is possible; they
// are read, not written.
func lend(dev backend.Device, shape backend.Shape, pix []float32) (backend.Buffer, error) {
	if host, ok := dev.(backend.HostMemory); ok {
		return host.Wrap(shape, pix)
	}
	b, err := dev.Alloc(shape)
	if err != nil {
		return nil, err
	}
	if err := dev.Upload(b, pix); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// borrow returns a buffer for results that are to end up in pix, and the function
// that brings them there.
func borrow(dev backend.Device, shape backend.Shape, pix []float32) (backend.Buffer, func() error, error) {
	if host, ok := dev.(backend.HostMemory); ok {
		b, err := host.Wrap(shape, pix)
		return b, dev.Sync, err
	}
	b, err := dev.Alloc(shape)
	return b, func() error { return dev.Download(pix, b) }, err
}

// meter turns the progress of the parts of a restoration into that of the whole.
type meter struct {
	call      backend.ProgressFunc
	tolerance float64
	last      ProgressReport
}

func newMeter(call backend.ProgressFunc, tolerance float64) *meter {
	return &meter{call: call, tolerance: tolerance}
}

func (m *meter) report(fraction float64, iteration int, residual float64) error {
	if m.call == nil {
		return nil
	}
	m.last = ProgressReport{Fraction: math.Max(fraction, m.last.Fraction), Iteration: iteration, Residual: residual, Tolerance: m.tolerance}
	return m.call(m.last)
}

// end reports that all is done.
func (m *meter) end() error { return m.report(1, m.last.Iteration, m.last.Residual) }
