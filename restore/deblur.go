package restore

import (
	"context"
	"fmt"
	"image"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/tv"
)

// DefaultIterations is how many iterations Deblur makes at most.
const DefaultIterations = 300

// DefaultTolerance is the relative residual at which Deblur ends for noise of
// standard deviation sigma: 0.003·sigma, kept within 4e-5 and 1.5e-4. The less
// noise there is, the more there is to be gained by going on: stopping here costs
// about 0.03 dB (RATIONALE.md).
func DefaultTolerance(sigma float64) float64 {
	return math.Min(math.Max(0.003*sigma, 4e-5), 1.5e-4)
}

// Deblur removes a known blur, and noise, from an image (non-blind
// deconvolution) by the plug-and-play proximal gradient iteration of package pnp:
//
//	x ← P_C(Φ(x − τ∇½‖Kx − y‖²)),
//
// with K the blur (package deblur), Φ the denoiser of UseMethod, τ = 1/‖K‖² and C
// the box [0,1]ⁿ unless options say otherwise. The report holds the certificate
// of the run: with a certified denoiser convergence of this iteration is proven, and
// its residual bounded.
//
// The denoiser is DefaultPrior unless UseMethod names another or weights are given.
//
// The strength of the denoiser follows from the noise level, which is estimated
// unless Sigma gives it, and is multiplied by Strength. With method "tv" and
// Constrain(pnp.Unconstrained) the iteration solves min ½‖Kx − y‖² + λ·TV(x), and
// Report.Weight is λ; it has momentum, whose moves are kept summable (pnp.Momentum).
//
// With a network Φ is what Denoise would apply for the same noise level, Φ_s(x) =
// s·Φ(x/s) with s = Strength·sigma over the noise level that the network is for, or the
// one for Strength·sigma of a network for all noise levels. One that is proven to be
// nonexpansive but not averaged, such as of Heun's method, is relaxed: 0.1·x + 0.9·Φ_s(x)
// is 0.9-averaged. With one of which nothing is proven the iteration runs all the same,
// and the certificate says that nothing is promised.
//
// What is said of the result of Denoise holds here too. With the boundary
// deblur.Unknown the unknown image is larger than the photograph; the part that
// the photograph shows is returned.
func Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	return run(ctx, img, options, DefaultPrior(),
		func(ctx context.Context, dev backend.Device, p *Planar, c settings, report *Report) ([]float32, error) {
			return solveDeblurring(ctx, dev, p, kernel, c, report)
		})
}

func solveDeblurring(ctx context.Context, dev backend.Device, p *Planar, kernel deblur.Kernel, c settings, report *Report) ([]float32, error) {
	problem, err := newDeblurring(ctx, dev, p, kernel, c, report)
	if err != nil {
		return nil, err
	}
	defer problem.free()
	phi, done, err := problem.denoiser()
	if err != nil {
		return nil, err
	}
	defer done()
	report.Averagedness, report.Certified = phi.Averagedness()
	start, err := problem.start(ctx, c.start)
	if err != nil {
		return nil, err
	}
	report.Tolerance = c.tolerance
	if report.Tolerance == 0 {
		report.Tolerance = DefaultTolerance(report.Sigma)
	}
	limit := c.iterations
	if limit == 0 {
		limit = DefaultIterations
	}
	meter := newMeter(c.progress, report.Tolerance)
	x, run, err := pnp.Solve(ctx, dev, problem.y, problem.k, phi, pnp.Options{
		Step: c.step, Constraint: c.constraint, Start: start, Tolerance: report.Tolerance, MaxIterations: limit,
		Acceleration: problem.acceleration(),
		Progress:     func(p pnp.Progress) error { return meter.run(p) },
	})
	start.Free()
	if err != nil {
		return nil, err
	}
	defer x.Free()
	report.Iteration = &run
	report.Iterations, report.Converged, report.Residual = run.Iterations, run.Converged, run.Relative
	out, err := problem.show(x)
	if err != nil {
		return nil, err
	}
	return out, meter.end()
}

// run reports an iteration that ends at a tolerance or a number of iterations,
// whichever comes first.
func (m *meter) run(p pnp.Progress) error {
	if m.at < 0 {
		m.at, m.first = 0, p.Residual
	}
	return m.report(math.Max(m.share(p.Residual), float64(p.Iteration)/float64(p.MaxIterations)), p.Iteration, p.Residual)
}

// deblurring is the inverse problem on a device.
type deblurring struct {
	dev      backend.Device
	k        *deblur.Operator
	y        backend.Buffer // the photograph
	planar   *Planar
	network  *fitted // nil: the denoiser is total variation
	weight   float64 // λ of total variation
	coupling tv.Coupling
	sigma    float64
	step     float64 // τ
}

func newDeblurring(ctx context.Context, dev backend.Device, p *Planar, kernel deblur.Kernel, c settings, report *Report) (_ *deblurring, err error) {
	k, err := deblur.New(dev, kernel, c.boundary, p.Height, p.Width)
	if err != nil {
		return nil, err
	}
	d := &deblurring{dev: dev, k: k, planar: p, sigma: report.Sigma, step: c.step}
	defer func() {
		if err != nil {
			d.free()
		}
	}()
	if d.step == 0 {
		norm, _ := k.Norm()
		d.step = 1 / (norm * norm)
	}
	if d.y, err = lend(dev, backend.Image(p.Channels, p.Height, p.Width), p.Pix); err != nil {
		return nil, err
	}
	if c.method == methodTV {
		weight, coupling := DeblurWeight(report.Sigma, kernel, p.Channels)
		d.weight, d.coupling = weight*c.strength, coupling
		report.Weight = d.weight
		return d, nil
	}
	if d.network, err = c.fit(ctx, dev, p.Channels, report.Sigma); err != nil {
		return nil, err
	}
	if err := d.network.forIteration(); err != nil {
		return nil, err
	}
	d.network.describe(report)
	return d, nil
}

func (d *deblurring) free() {
	d.k.Free()
	if d.y != nil {
		d.y.Free()
	}
	if d.network != nil {
		d.network.free()
	}
}

// domain is the shape of the unknown image.
func (d *deblurring) domain() backend.Shape {
	h, w := d.k.Domain()
	return backend.Image(d.planar.Channels, h, w)
}

// denoiser returns Φ for one run, and what to call when done with it: the network, or
// the proximal map of τλ·TV, so that its fixed points with the gradient step do not
// depend on τ. The latter keeps the state of a run.
func (d *deblurring) denoiser() (phi pnp.Denoiser, done func(), err error) {
	if d.network != nil {
		return d.network.Denoiser, func() {}, nil
	}
	prox, err := tv.New(d.dev, d.domain(), tv.Options{Alpha: d.step * d.weight, Coupling: d.coupling})
	if err != nil {
		return nil, nil, err
	}
	return prox, prox.Free, nil
}

// acceleration is momentum for total variation, a proximal map, for which it is known
// to be a gain.
func (d *deblurring) acceleration() pnp.Acceleration {
	if d.network != nil {
		return pnp.Plain
	}
	return pnp.Momentum
}

// start returns an initial estimate of the unknown image.
func (d *deblurring) start(ctx context.Context, s StartingPoint) (backend.Buffer, error) {
	b, err := d.dev.Alloc(d.domain())
	if err != nil {
		return nil, err
	}
	switch s {
	case StartConstant:
		err = d.dev.Fill(b, 0.5)
	case StartImage:
		extended := make([]float32, d.domain().Len())
		if err = d.k.Extend(extended, d.planar.Pix); err == nil {
			err = d.dev.Upload(b, extended)
		}
	default:
		err = d.wiener(ctx, b)
	}
	if err != nil {
		b.Free()
		return nil, fmt.Errorf("restore: initial estimate: %w", err)
	}
	return b, nil
}

// wiener makes the Wiener estimate one channel at a time, which bounds its memory
// and the time until it sees the context end.
func (d *deblurring) wiener(ctx context.Context, b backend.Buffer) error {
	ratio := deblur.NoiseToSignal(d.planar.Pix, d.planar.Height*d.planar.Width, d.sigma)
	for c := range d.planar.Channels {
		if err := ctx.Err(); err != nil {
			return err
		}
		to, err := d.dev.Channels(b, c, 1)
		if err != nil {
			return err
		}
		from, err := d.dev.Channels(d.y, c, 1)
		if err != nil {
			return err
		}
		if err := d.k.Wiener(to, from, ratio); err != nil {
			return err
		}
	}
	return nil
}

// show returns the part of x that the photograph shows.
func (d *deblurring) show(x backend.Buffer) ([]float32, error) {
	whole := make([]float32, x.Shape().Len())
	if err := d.dev.Download(whole, x); err != nil {
		return nil, err
	}
	if x.Shape().H == d.planar.Height && x.Shape().W == d.planar.Width {
		return whole, nil
	}
	out := make([]float32, len(d.planar.Pix))
	return out, d.k.Crop(out, whole)
}
