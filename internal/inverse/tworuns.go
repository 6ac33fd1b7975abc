package inverse

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
)

// twoRuns are those of an iteration with a network. The second begins where the first ended, at
// x₁, and is a run like any other, with the same proof, whatever x₁ is.
//
// Without a guide it is for another photograph. x₁ is too smooth: the residual y − Kx₁ holds
// noise, and detail that was taken for noise. So the second is for y + (y − Kx₁), in which that
// detail counts twice (twicing: Tukey 1977; the first step of the Bregman iteration of Osher,
// Burger, Goldfarb, Xu and Yin, 2005).
//
// With a guide it is with other radii: each run has those that the guide gives to what the data
// step makes of the point that the run begins at, which is what the network sees first. They are
// frozen before the run begins. A second photograph is then of no use (docs/notebook/guided-iterations.md). In the place of
// the first run there may be steps of another kind, of which nothing is proven: what they are for is a
// point to begin the second at.
type twoRuns struct {
	dev backend.Device
	k   operator.Linear
	y   backend.Buffer
	// kept, if not nil, returns the share of the samples of y that are data, and the sum of the squares of the
	// rest, where Kx is 0.
	kept func() (share, rest float64)
	// retune, if not nil, is given x₁ and the root mean square of y − Kx₁, and returns the denoiser of
	// the run to come, nil for the same, and whether that is the first run again, from x₁.
	retune func(ctx context.Context, x backend.Buffer, left float64) (phi pnp.Denoiser, again bool, err error)
	// freeze, if not nil, is given what a run begins at, and returns the network frozen for it.
	freeze func(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error)
	anneal Annealing // if not nil, in place of the first run
}

// Annealing makes at most that many steps from start, which is given away, or where that is nil from an
// estimate of its own, and returns what they end with and how many they were.
type Annealing func(ctx context.Context, start backend.Buffer, steps int, progress func(step int, change float64) error) (x backend.Buffer, made int, err error)

// How much farther from its fixed point than the second run the first one may end: what it leaves
// undone the second does. A guide needs no more of it than an image to look at.
const (
	firstTolerance       = 4
	firstToleranceGuided = 16
)

// runs says what the runs of a restoration did.
type runs struct {
	last       pnp.Report
	iterations int // of all
}

// solve returns the result of the second run. opt has all but Progress, which is the
// meter's; all runs together make at most opt.MaxIterations, and if that is 1 there is
// one run. Only the second is drawn to its start (pnp.Options.Contraction).
func (t twoRuns) solve(ctx context.Context, phi pnp.Denoiser, opt pnp.Options, progress *meter.Meter) (backend.Buffer, runs, error) {
	if opt.MaxIterations == 1 {
		opt.Progress = progress.Run(0, 1)
		x, report, err := t.run(ctx, t.y, phi, opt)
		return x, runs{report, report.Iterations}, err
	}
	first, made := opt, 0
	first.Tolerance, first.Contraction = firstTolerance*opt.Tolerance, 0
	if t.freeze != nil {
		first.Tolerance = firstToleranceGuided * opt.Tolerance
	}
	for repeats := 0; ; repeats++ {
		x, n, err := t.first(ctx, phi, first, opt.MaxIterations-made, made, progress)
		if err != nil {
			return nil, runs{}, err
		}
		made += n
		other, y, again, err := t.afterFirst(ctx, x)
		if err != nil {
			x.Free()
			return nil, runs{}, err
		}
		if other != nil {
			phi = other
		}
		if again && repeats < strength.MaxRepeats && opt.MaxIterations-made > 1 {
			y.Free()
			if first.Start, first.TakeStart = x, true; t.anneal != nil {
				x.Free() // too far from what is sought: one for too little noise holds all of it
				first.Start, first.TakeStart = nil, false
			}
			continue
		}
		if t.freeze != nil {
			y.Free()
			y = t.y
		}
		// From here on x is the run's, which frees it.
		opt.MaxIterations, opt.Start, opt.TakeStart = opt.MaxIterations-made, x, true
		opt.Progress = progress.Run(made, 1)
		if t.freeze == nil {
			defer y.Free()
		}
		refined, report, err := t.run(ctx, y, phi, opt)
		return refined, runs{report, made + report.Iterations}, err
	}
}

// afterFirst looks at what the first run ended with, x, which stays the caller's. It returns the denoiser of the run to
// come, nil for the same, the photograph of a second run, y + (y − Kx), which the caller frees, and whether the first run
// is to be made again.
func (t twoRuns) afterFirst(ctx context.Context, x backend.Buffer) (phi pnp.Denoiser, y backend.Buffer, again bool, err error) {
	y, left, err := t.addResidual(x)
	if err != nil || t.retune == nil {
		return nil, y, false, err
	}
	if phi, again, err = t.retune(ctx, x, left); err != nil {
		y.Free()
		return nil, nil, false, err
	}
	return phi, y, again, nil
}

// first makes the first run, or what stands in its place, after as many iterations as were made before,
// and returns what it ended with and its iterations. With the second run there are to be at most that many.
func (t twoRuns) first(ctx context.Context, phi pnp.Denoiser, opt pnp.Options, most, made int, progress *meter.Meter) (backend.Buffer, int, error) {
	if t.anneal != nil {
		return t.anneal(ctx, opt.Start, most-1, progress.Steps(made, strength.AnnealedSteps))
	}
	opt.MaxIterations, opt.Progress = most/2, progress.Run(made, 2)
	x, report, err := t.run(ctx, t.y, phi, opt)
	return x, report.Iterations, err
}

// run makes one of the runs.
func (t twoRuns) run(ctx context.Context, y backend.Buffer, phi pnp.Denoiser, opt pnp.Options) (_ backend.Buffer, _ pnp.Report, err error) {
	if t.freeze != nil {
		if phi, err = t.freeze(ctx, opt.Start); err != nil {
			if opt.TakeStart {
				opt.Start.Free()
			}
			return nil, pnp.Report{}, err
		}
	}
	return pnp.Solve(ctx, t.dev, y, t.k, phi, opt)
}

// once makes a single run.
func once(ctx context.Context, dev backend.Device, y backend.Buffer, k operator.Linear, phi pnp.Denoiser, opt pnp.Options, progress *meter.Meter) (backend.Buffer, runs, error) {
	opt.Progress = progress.Run(0, 1)
	x, report, err := pnp.Solve(ctx, dev, y, k, phi, opt)
	return x, runs{report, report.Iterations}, err
}

// addResidual returns y + (y − Kx), and the root mean square of y − Kx.
func (t twoRuns) addResidual(x backend.Buffer) (_ backend.Buffer, left float64, err error) {
	b, err := t.dev.Alloc(t.y.Shape())
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			b.Free()
		}
	}()
	if err := t.k.Apply(b, x); err != nil {
		return nil, 0, err
	}
	var square [1]float64
	if err := t.dev.Reduce(square[:], backend.Reduction{Kind: backend.DiffSquares, X: t.y, Y: b}); err != nil {
		return nil, 0, err
	}
	samples := float64(t.y.Shape().Len())
	if t.kept != nil {
		share, rest := t.kept()
		samples *= share
		square[0] = max(0, square[0]-rest)
	}
	left = math.Sqrt(square[0] / max(samples, 1))
	return b, left, t.dev.LinearCombination(b, backend.Term{A: 2, X: t.y}, backend.Term{A: -1, X: b})
}
