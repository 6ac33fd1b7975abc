package restore

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
)

// DefaultIterations is how many iterations Deblur, Inpaint, Upscale and Solve make at most.
const DefaultIterations = 300

// iteration is the run of a plug-and-play iteration that all inverse problems share.
type iteration struct {
	k         operator.Linear
	y, start  backend.Buffer
	takeStart bool // start is given away
	phi       pnp.Denoiser
	data      pnp.DataStep
	step      float64        // τ, 0: the data step's own
	peak      float64        // upper end of the box, 0: 1
	kept      func() float64 // the share of y that is data, or nil
	tolerance float64        // relative residual to end at where no option says it
	// retune, freeze and anneal are those of twoRuns.
	retune func(ctx context.Context, x backend.Buffer, left float64) (phi pnp.Denoiser, again bool, err error)
	freeze func(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error)
	anneal annealing
}

// solve runs it, but for total variation twice, writes what it did into the report, and returns x, and
// the meter, whose end is to be reported.
func (it iteration) solve(ctx context.Context, dev backend.Device, c settings, report *Report) (backend.Buffer, *meter, error) {
	report.Averagedness, report.Certified = it.phi.Averagedness()
	report.Iteration.Tolerance = c.tolerance
	if report.Iteration.Tolerance == 0 {
		report.Iteration.Tolerance = it.tolerance
	}
	limit := c.iterations
	if limit == 0 {
		limit = DefaultIterations
	}
	meter := newMeter(c.progress, report.Iteration.Tolerance)
	opt := pnp.Options{
		DataStep: it.data, Step: it.step, Constraint: c.constraint, Peak: it.peak, Start: it.start, TakeStart: it.takeStart,
		Tolerance: report.Iteration.Tolerance, MaxIterations: limit, Acceleration: acceleration(c.method), Contraction: c.pull,
	}
	var x backend.Buffer
	var run runs
	var err error
	if c.method == TV {
		x, run, err = once(ctx, dev, it.y, it.k, it.phi, opt, meter)
	} else {
		x, run, err = twoRuns{dev: dev, k: it.k, y: it.y, kept: it.kept, retune: it.retune, freeze: it.freeze, anneal: it.anneal}.solve(ctx, it.phi, opt, meter)
	}
	if err != nil {
		return nil, nil, err
	}
	report.Iteration.Run = &run.last
	report.Iteration.Count, report.Iteration.Converged, report.Iteration.Residual = run.iterations, run.last.Converged, run.last.Relative
	return x, meter, nil
}

// acceleration is momentum for total variation, a proximal map, for which it is known
// to be a gain, and Anderson's for networks. Both keep the proof of convergence.
func acceleration(method string) pnp.Acceleration {
	if method == TV {
		return pnp.Momentum
	}
	return pnp.Anderson
}
