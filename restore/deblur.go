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

// DefaultTolerance is the relative residual at which Deblur ends with total variation for
// noise of standard deviation sigma: 0.003·sigma, kept within 4e-5 and 1.5e-4. The less
// noise there is, the more there is to be gained by going on: stopping here costs
// about 0.03 dB (docs/notebook/iterations.md). With networks it is NetworkTolerance.
func DefaultTolerance(sigma float64) float64 {
	return math.Min(math.Max(0.003*sigma, 4e-5), 1.5e-4)
}

// NetworkTolerance is the relative residual at which Deblur ends with a network. A
// proximal step leaves less undone at the same residual than a gradient step does: stopping
// here costs less than 0.01 dB at noise of 2.55 of 255 and above.
const NetworkTolerance = 1.5e-4

// Deblur removes a known blur, and noise, from an image (non-blind
// deconvolution) by a plug-and-play iteration of package pnp:
//
//	x ← P_C(Φ(D(x))),
//
// with D a step towards the photograph y, Φ the denoiser of Method, and C the box [0,1]ⁿ
// unless options say otherwise. The report holds the certificate of the run: with a
// certified denoiser convergence of this iteration is proven, and its residual bounded.
//
// The denoiser is DefaultPrior unless Method names another or weights are given. Its
// strength follows from the noise level, which is estimated unless Sigma gives it, and is
// multiplied by Strength.
//
// With method "tv" D is a gradient step, x − τ∇½‖Kx − y‖² with K the blur (package deblur)
// and τ = 1/‖K‖². With Constraint(pnp.Unconstrained) the iteration solves
// min ½‖Kx − y‖² + λ·TV(x), and Report.Weight is λ; it has momentum, whose moves are kept
// summable (pnp.Momentum).
//
// With a network D is a proximal step, argmin over v of ½‖v − x‖² + τ·½‖Kv − y‖² with
// τ = 10/‖K‖² (pnp.ProximalStep), down to 5/‖K‖² for strong noise if the network has a guide, and
// Φ is what Denoise would apply for the noise level DeblurLevel times Strength: Φ_s(x) = s·Φ(x/s)
// with s that level over the one that the network is for, or the one for that level of a network
// for all of them. One that is
// proven to be nonexpansive but not averaged, such as of Heun's method, is relaxed:
// 0.1·x + 0.9·Φ_s(x) is 0.9-averaged. With one of which nothing is proven the iteration
// runs all the same, and the certificate says that nothing is promised. It is accelerated
// by Anderson's method, with a safeguard that keeps the proof (pnp.Anderson).
//
// A network without a guide is run twice. One with a guide is run once, after steps like the
// iteration's for less and less noise, each with radii of its own: nothing is proven of them,
// and they say where the run begins. For it the network is frozen, with the radii that the guide
// gives to D(x₀), x₀ where the run begins and D(x₀) what the network then sees first; it is for
// about half of DeblurLevel, and Strength is a factor on the radii. What is proven of the run is proven
// for the radii that are frozen in it, whatever they are.
//
// Of one without a guide the fixed point x₁ of the first run is too smooth: the residual
// y − Kx₁ holds noise, and detail that was taken for noise. The second run, from x₁, is for
// the photograph y + (y − Kx₁), in which that detail counts twice (Tukey's twicing, 1977;
// the first step of the Bregman iteration of Osher, Burger, Goldfarb, Xu and Yin, 2005). It is
// a run like any other, with the same proof, whatever x₁ is; Report.Iteration is about it.
// That run follows the image that the first one shows (Adaptation).
//
// With a guide or without, the size of the residual tells whether the noise level that was given
// is right: where both it and an estimate of the noise say that it is far from that, the first run,
// or those steps, are made again for the estimate (Report.Level, Rescaling), so that a noise
// level that is wrong by a factor of two costs little. Where the noise is estimated it is also looked for in what the
// first run comes to: a run for too little brings it back many times as strong, and is made again for more.
// Whoever wants a smoother or a sharper result has Strength.
//
// What is said of the result of Denoise holds here too. With the boundary
// deblur.Unknown the unknown image is larger than the photograph; the part that
// the photograph shows is returned.
func Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Deblur(ctx, img, kernel)
}

// Deblur does what the function Deblur does.
func (r *Restorer) Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	return r.run(ctx, taskDeblur, img, options, settings.blurredNoise,
		func(ctx context.Context, dev backend.Device, p *picture, c settings, report *Report) ([]float32, error) {
			return solveDeblurring(ctx, dev, p.planar, oneKernel(kernel), c, report)
		})
}

func solveDeblurring(ctx context.Context, dev backend.Device, p *Planar, blur blurOf, c settings, report *Report) ([]float32, error) {
	problem, err := newDeblurring(ctx, dev, p, blur, c, report)
	if err != nil {
		return nil, err
	}
	defer problem.free()
	if err := problem.leaveOutClipped(report); err != nil {
		return nil, err
	}
	phi, done, err := problem.denoiser()
	if err != nil {
		return nil, err
	}
	defer done()
	start, err := problem.start(ctx, c.start)
	if err != nil {
		return nil, err
	}
	run := iteration{
		k: problem.operator(), y: problem.measured(), peak: problem.peak(), kept: problem.kept, phi: phi, start: start, takeStart: true,
		data: problem.data, step: problem.step, tolerance: problem.tolerance(),
	}
	if problem.retuning != nil {
		run.retune = problem.retuning.next
		if problem.network.network.Guided() {
			run.freeze, run.anneal = problem.freeze, problem.anneal
		}
	}
	x, meter, err := run.solve(ctx, dev, c, report)
	if err != nil {
		return nil, err
	}
	defer x.Free()
	if problem.retuning != nil {
		problem.retuning.current.describe(report, problem.strength)
		if report.Guide != nil {
			report.Guide.Looks = problem.retuning.looks()
		}
		report.Adaptation = problem.retuning.adaptation
		report.Left = problem.retuning.left
		problem.retuning.explain(report)
	}
	out, err := problem.show(x)
	if err != nil {
		return nil, err
	}
	return out, meter.end()
}

// deblurring is the inverse problem on a device.
type deblurring struct {
	dev      backend.Device
	k        blurring
	y        backend.Buffer // the photograph
	clipped  *clipped       // nil: nothing is
	planar   *Planar
	own      pnp.Denoiser // of the caller, or nil
	network  *fitted      // nil: the denoiser is that, or total variation
	retuning *retuning    // of the network
	strength float64      // factor on the radii of a network with a guide
	weight   float64      // λ of total variation
	coupling tv.Coupling
	sigma    float64
	starting StartingPoint
	data     pnp.DataStep
	step     float64 // τ
}

func newDeblurring(ctx context.Context, dev backend.Device, p *Planar, blur blurOf, c settings, report *Report) (_ *deblurring, err error) {
	kernel := blur.typical
	report.Disturbance = report.Sigma
	if report.Estimate != nil {
		report.Disturbance = p.disturbance(report.Sigma, kernel.Energy())
	}
	k, err := blur.operator(dev, c.boundary, p.Height, p.Width)
	if err != nil {
		return nil, err
	}
	d := &deblurring{dev: dev, k: k, planar: p, sigma: report.Disturbance, starting: c.start, step: c.step, strength: c.strength}
	defer func() {
		if err != nil {
			d.free()
		}
	}()
	norm, _ := k.Norm()
	if d.step == 0 {
		d.step = 1 / (norm * norm)
		if c.method != TV {
			d.step *= c.networkStep(d.sigma)
		}
	}
	if d.y, err = lend(dev, p.shape(), p.Pix); err != nil {
		return nil, err
	}
	if c.method == TV {
		weight, coupling := DeblurWeight(report.Disturbance, kernel, p.Channels)
		d.weight, d.coupling = weight*c.strength, coupling
		report.Weight = d.weight
		return d, nil
	}
	d.data = pnp.ProximalStep
	if c.prior != nil {
		d.own = c.prior
		return d, nil
	}
	sigma, err := c.axisNoise(p.Channels, report.Disturbance)
	if err != nil {
		return nil, err
	}
	if d.network, err = c.fit(ctx, dev, p.Channels, c.deblurLevel(sigma, kernel, d.step*norm*norm)); err != nil {
		return nil, err
	}
	if err := d.network.forIteration(); err != nil {
		return nil, err
	}
	d.retuning = &retuning{blurredNoise: c.blurredNoise, mapNoise: c.mapNoise, dev: dev, planar: p, given: report.Estimate == nil, sigma: math.Max(d.sigma, leastSigma), first: math.Max(d.sigma, leastSigma), kernel: kernel.Energy(), network: d.network, current: d.network}
	if c.adapts() {
		d.retuning.energy = kernel.Energy()
	}
	return d, nil
}

func (d *deblurring) free() {
	d.k.Free()
	if d.clipped != nil {
		d.clipped.free()
	}
	if d.y != nil {
		d.y.Free()
	}
	if d.retuning != nil {
		d.retuning.free()
	}
	if d.network != nil {
		d.network.free()
	}
}

// tolerance is the relative residual at which a run ends.
func (d *deblurring) tolerance() float64 {
	if d.network != nil || d.own != nil {
		return NetworkTolerance
	}
	return DefaultTolerance(d.sigma)
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
	switch {
	case d.own != nil:
		return d.own, func() {}, nil
	case d.network != nil:
		return d.network.Denoiser, func() {}, nil
	}
	prox, err := tv.New(d.dev, d.domain(), tv.Options{Alpha: d.step * d.weight, Coupling: d.coupling})
	if err != nil {
		return nil, nil, err
	}
	return prox, prox.Free, nil
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
		if err = d.wiener(ctx, b, d.y); err == nil && d.clipped != nil {
			err = d.brighten(ctx, b)
		}
	}
	if err == nil {
		err = d.lookAtClipped(b)
	}
	if err != nil {
		b.Free()
		return nil, fmt.Errorf("restore: initial estimate: %w", err)
	}
	return b, nil
}

// wiener makes the Wiener estimate of a photograph y one channel at a time, which bounds its memory
// and the time until it sees the context end.
func (d *deblurring) wiener(ctx context.Context, b, y backend.Buffer) error {
	ratio := deblur.NoiseToSignal(d.planar.Pix, d.planar.Height*d.planar.Width, d.sigma)
	if d.clipped != nil {
		ratio *= unclippedRatio
	}
	for c := range d.planar.Channels {
		if err := ctx.Err(); err != nil {
			return err
		}
		to, err := d.dev.Channels(b, c, 1)
		if err != nil {
			return err
		}
		from, err := d.dev.Channels(y, c, 1)
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
