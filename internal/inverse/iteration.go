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
	Tolerance float64 // relative residual to end at where no option says it
	// Kept, or nil, returns the share of Y that is data, and the sum of the squares of the rest, where Kx is 0.
	Kept func() (share, rest float64)
	// Retune, or nil, is given the result x₁ of the first run and the root mean square of Y − Kx₁, and returns the denoiser of
	// the run to come, nil for the same, and whether that is the first run again, from x₁.
	Retune func(ctx context.Context, x backend.Buffer, left float64) (phi pnp.Denoiser, again bool, err error)
	// Freeze, or nil, is given what a run begins at, and returns the network frozen for it.
	Freeze func(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error)
	// Anneal, or nil, stands in the place of the first run. It makes at most that many steps from start, which is given away, or
	// where that is nil from an estimate of its own, and returns what they end with and how many they were.
	Anneal func(ctx context.Context, start backend.Buffer, steps int, progress func(step int, change float64) error) (x backend.Buffer, made int, err error)
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
	solve := twoRuns{it, dev}.solve
	if method == networks.TV || limit == 1 {
		solve = twoRuns{it, dev}.once
	}
	x, run, err := solve(ctx, it.Phi, opt, progress)
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
