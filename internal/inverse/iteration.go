package inverse

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
)

// defaultIterations is how many iterations a restoration makes at most where Options do not say it.
const defaultIterations = 300

// Options are what a call asks of an iteration. A field that is 0 leaves the default.
type Options struct {
	Strength    float64 // factor on what follows from the noise level; 1 is none
	Iterations  int     // at most
	Tolerance   float64 // relative residual to end at
	Step        float64 // τ
	Constraint  pnp.Constraint
	Contraction float64 // q, 0 for none
	Progress    backend.ProgressFunc
}

// Iteration is the run of a plug-and-play iteration that all inverse problems share.
type Iteration struct {
	K         operator.Linear
	Y, Start  backend.Buffer
	TakeStart bool // Start is given away
	Phi       pnp.Denoiser
	Data      pnp.DataStep
	Step      float64 // τ, 0: the data step's own
	Peak      float64 // upper end of the box, 0: 1
	// Kept, or nil, returns the share of Y that is data, and the sum of the squares of the rest, where Kx is 0.
	Kept      func() (share, rest float64)
	Tolerance float64 // relative residual to end at where no option says it
	// Retune, Freeze and Anneal are those of twoRuns.
	Retune func(ctx context.Context, x backend.Buffer, left float64) (phi pnp.Denoiser, again bool, err error)
	Freeze func(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error)
	Anneal Annealing
}

// Solve runs it, with a network twice or after annealed steps, writes what it did into the report, and returns x, and
// the meter, whose end is to be reported.
func (it Iteration) Solve(ctx context.Context, dev backend.Device, method string, c Options, report *outcome.Report) (backend.Buffer, *meter.Meter, error) {
	report.Averagedness, report.Certified = it.Phi.Averagedness()
	report.Iteration.Tolerance = c.Tolerance
	if report.Iteration.Tolerance == 0 {
		report.Iteration.Tolerance = it.Tolerance
	}
	limit := c.Iterations
	if limit == 0 {
		limit = defaultIterations
	}
	progress := meter.New(c.Progress, report.Iteration.Tolerance)
	opt := pnp.Options{
		DataStep: it.Data, Step: it.Step, Constraint: c.Constraint, Peak: it.Peak, Start: it.Start, TakeStart: it.TakeStart,
		Tolerance: report.Iteration.Tolerance, MaxIterations: limit, Acceleration: acceleration(method), Contraction: c.Contraction,
	}
	var x backend.Buffer
	var run runs
	var err error
	if method == networks.TV {
		x, run, err = once(ctx, dev, it.Y, it.K, it.Phi, opt, progress)
	} else {
		x, run, err = twoRuns{dev: dev, k: it.K, y: it.Y, kept: it.Kept, retune: it.Retune, freeze: it.Freeze, anneal: it.Anneal}.solve(ctx, it.Phi, opt, progress)
	}
	if err != nil {
		return nil, nil, err
	}
	report.Iteration.Run = &run.last
	report.Iteration.Count, report.Iteration.Converged, report.Iteration.Residual = run.iterations, run.last.Converged, run.last.Relative
	return x, progress, nil
}

// acceleration is momentum for total variation, a proximal map, for which it is known
// to be a gain, and Anderson's for networks. Both keep the proof of convergence.
func acceleration(method string) pnp.Acceleration {
	if method == networks.TV {
		return pnp.Momentum
	}
	return pnp.Anderson
}
