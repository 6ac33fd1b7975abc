// Package deblurring removes a blur from a photograph: the frame of the blur, samples that are no data, where the iteration
// begins, and how strong its denoiser is to be, told by what a run leaves. restore.Deblur opens and closes the image around
// it, and restore.Check holds the iteration against its bounds.
package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/tv"
)

// tvTolerance is the relative residual at which Deblur ends with total variation for
// noise of standard deviation sigma: 0.003·sigma, kept within 4e-5 and 1.5e-4. The less
// noise there is, the more there is to be gained by going on: stopping here costs
// about 0.03 dB (docs/notebook/iterations.md). With networks it is NetworkTolerance.
func tvTolerance(sigma float64) float64 {
	return min(max(0.003*sigma, 4e-5), 1.5e-4)
}

// NetworkTolerance is the relative residual at which Deblur ends with a network. A
// proximal step leaves less undone at the same residual than a gradient step does: stopping
// here costs less than 0.01 dB at noise of 2.55 of 255 and above.
const NetworkTolerance = 1.5e-4

// clippedTolerance is NetworkTolerance for a photograph with clipped samples. What lies behind them converges last, and is
// a small part of the image: stopping at NetworkTolerance cost 0.7 dB around four lamps.
const clippedTolerance = NetworkTolerance / 2

// Job is what Deblur is to do.
type Job struct {
	inverse.Options
	Device   backend.Device
	Choice   *networks.Choice
	Adapt    bool
	Boundary deblur.Boundary
	Start    StartingPoint
	// LinearLight says that light was blurred, and not the samples as stored. It needs a network with a guide.
	LinearLight bool

	exposure float64 // what the photograph was brightened by; 0: not at all
}

// deblur is Deblur for a photograph that is as bright as it is to be.
func (j Job) deblur(ctx context.Context, p *imageplanes.Planes, blur Blur, report *outcome.Report) ([]float32, error) {
	problem, err := j.New(ctx, p, blur, report)
	if err != nil {
		return nil, err
	}
	defer problem.Free()
	if err := problem.maskOut(report); err != nil {
		return nil, err
	}
	phi, done, err := problem.denoiser()
	if err != nil {
		return nil, err
	}
	defer done()
	start, err := problem.start(ctx, j.Start)
	if err != nil {
		return nil, err
	}
	run := inverse.Iteration{
		K: problem.operator(), Y: problem.y, Peak: problem.peak(), Kept: problem.kept, Phi: phi, Start: start, TakeStart: true,
		Data: problem.data, Step: problem.step, Tolerance: problem.tolerance(),
	}
	if problem.retuning != nil {
		run.Retune = problem.retuning.next
		if problem.network.Network.Guided() {
			run.Freeze, run.Anneal = problem.freeze, problem.anneal
		}
	}
	x, progress, err := run.Solve(ctx, j.Device, j.Choice.Method, j.Options, report)
	if err != nil {
		return nil, err
	}
	defer x.Free()
	if problem.retuning != nil {
		problem.retuning.current.Describe(report, problem.strength)
		if report.Network.Guide != nil {
			report.Network.Guide.Looks = problem.retuning.looks()
		}
		report.Network.Adaptation = problem.retuning.adaptation
		report.Iteration.Left = problem.retuning.left
		problem.retuning.explain(report)
	}
	out, err := problem.show(x)
	if err != nil {
		return nil, err
	}
	return out, progress.End()
}

// Problem is the inverse problem on a device.
type Problem struct {
	dev       backend.Device
	blur      blurring
	k         operator.Linear   // of the iteration: the blur, or wide
	wide      *operator.Widened // the blur for an image with the sides that the denoiser asks for; nil: it has them
	y         backend.Buffer    // the photograph, or that of light
	light     *light            // nil: samples were blurred as stored
	masked    *masked           // nil: all samples are data
	planar    *imageplanes.Planes
	own       pnp.Denoiser     // of the caller, or nil
	network   *networks.Fitted // nil: the denoiser is that, or total variation
	retuning  *retuning        // of the network
	strength  float64          // factor on the radii of a network with a guide
	weight    float64          // λ of total variation
	sigma     float64
	starting  StartingPoint
	data      pnp.DataStep
	step      float64 // τ
	brightest float64 // upper end of the box where nothing is clipped
}

// New puts the problem on the device, with the denoiser fitted to the noise that the report has. The caller frees it.
func (j Job) New(ctx context.Context, p *imageplanes.Planes, blur Blur, report *outcome.Report) (_ *Problem, err error) {
	dev := j.Device
	kernel := blur.typical
	report.Noise.Disturbance = report.Noise.Sigma
	if report.Noise.Estimate != nil {
		report.Noise.Disturbance = disturbance(p, report.Noise.Sigma, kernel.Energy())
	}
	k, err := blur.operator(dev, j.Boundary, p.Height, p.Width)
	if err != nil {
		return nil, err
	}
	d := &Problem{dev: dev, blur: k, k: k, planar: p, sigma: report.Noise.Disturbance, starting: j.Start, step: j.Step, strength: j.Strength, brightest: max(j.exposure, 1) * inverse.Peak(p.Pix, report.Noise.Sigma)}
	defer func() {
		if err != nil {
			d.Free()
		}
	}()
	dh, dw := k.Domain()
	if h, w := j.Choice.Even(dh, dw); h != dh || w != dw {
		if d.wide, err = operator.Widen(dev, k, h, w); err != nil {
			return nil, err
		}
		d.k = d.wide
	}
	norm, _ := d.k.Norm()
	if err := inverse.CheckNorm(norm); err != nil {
		return nil, err
	}
	if d.step == 0 {
		d.step = 1 / (norm * norm)
		if j.Choice.Method != networks.TV {
			d.step *= networkStep(j.Choice, d.sigma)
		}
	}
	if j.LinearLight {
		if d.light, err = newLight(dev, d.k, p); err != nil {
			return nil, err
		}
		d.y = d.light.y
	} else if d.y, err = imageplanes.Lend(dev, p.Shape(), p.Pix); err != nil {
		return nil, err
	}
	if j.Choice.Method == networks.TV {
		d.weight = strength.DeblurWeight(d.sigma, kernel.Energy(), p.Channels) * j.Strength
		report.Weight = d.weight
		return d, nil
	}
	d.data = pnp.ProximalStep
	if j.Choice.Prior != nil {
		d.own = j.Choice.Prior
		return d, nil
	}
	sigma, err := j.Choice.AxisNoise(p.Channels, report.Noise.Disturbance)
	if err != nil {
		return nil, err
	}
	if d.network, err = j.Choice.Fit(ctx, dev, p.Channels, level(j.Choice, sigma, kernel, d.step*norm*norm), j.Strength); err != nil {
		return nil, err
	}
	if err := d.network.ForIteration(); err != nil {
		return nil, err
	}
	first := max(d.sigma, strength.MinSigma)
	d.retuning = &retuning{
		dev: dev, planar: p, blur: blur, exposure: max(j.exposure, 1), adapts: j.Adapt && j.Choice.Adapts(), given: report.Noise.Estimate == nil,
		sigma: first, first: first, network: d.network, current: d.network,
	}
	return d, nil
}

// Free gives back what New has made.
func (d *Problem) Free() {
	if d.wide != nil {
		d.wide.Free()
	}
	d.blur.Free()
	if d.masked != nil {
		d.masked.free()
	}
	if d.light != nil {
		d.light.free()
	} else if d.y != nil {
		d.y.Free()
	}
	if d.retuning != nil {
		d.retuning.free()
	}
	if d.network != nil {
		d.network.Free()
	}
}

// tolerance is the relative residual at which a run ends.
func (d *Problem) tolerance() float64 {
	if d.network != nil || d.own != nil {
		if d.clips() {
			return clippedTolerance
		}
		return NetworkTolerance
	}
	return tvTolerance(d.sigma)
}

// denoiser returns Φ for one run, and what to call when done with it: the network, or
// the proximal map of τλ·TV, so that its fixed points with the gradient step do not
// depend on τ. The latter keeps the state of a run.
func (d *Problem) denoiser() (phi pnp.Denoiser, done func(), err error) {
	switch {
	case d.own != nil:
		return d.own, func() {}, nil
	case d.network != nil:
		return d.network.Denoiser, func() {}, nil
	}
	prox, err := tv.New(d.dev, d.domain(), tv.Options{Alpha: d.step * d.weight, Coupling: inverse.Coupling(d.planar.Channels)})
	if err != nil {
		return nil, nil, err
	}
	return prox, prox.Free, nil
}
