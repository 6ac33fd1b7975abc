package inverse

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/strength"
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
	Iteration
	dev backend.Device
}

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

// once returns the result of a single run. opt has all but Progress, which is the meter's.
func (t twoRuns) once(ctx context.Context, phi pnp.Denoiser, opt pnp.Options, progress *meter.Meter) (backend.Buffer, runs, error) {
	opt.Progress = progress.Run(0, 1)
	x, report, err := t.run(ctx, t.Y, phi, opt)
	return x, runs{report, report.Iterations}, err
}

// solve returns the result of the second run. All runs together make at most opt.MaxIterations, which are 2 or more. Only the
// second is drawn to its start (pnp.Options.Contraction).
func (t twoRuns) solve(ctx context.Context, phi pnp.Denoiser, opt pnp.Options, progress *meter.Meter) (backend.Buffer, runs, error) {
	first, made := opt, 0
	first.Tolerance, first.Contraction = firstTolerance*opt.Tolerance, 0
	if t.Freeze != nil {
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
			if first.Start, first.TakeStart = x, true; t.Anneal != nil {
				x.Free() // too far from what is sought: one for too little noise holds all of it
				first.Start, first.TakeStart = nil, false
			}
			continue
		}
		if t.Freeze != nil {
			y.Free()
			y = t.Y
		}
		// From here on x is the run's, which frees it.
		opt.MaxIterations, opt.Start, opt.TakeStart = opt.MaxIterations-made, x, true
		opt.Progress = progress.Run(made, 1)
		if t.Freeze == nil {
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
	if err != nil || t.Retune == nil {
		return nil, y, false, err
	}
	if phi, again, err = t.Retune(ctx, x, left); err != nil {
		y.Free()
		return nil, nil, false, err
	}
	return phi, y, again, nil
}

// first makes the first run, or what stands in its place, after as many iterations as were made before,
// and returns what it ended with and its iterations. With the second run there are to be at most that many.
func (t twoRuns) first(ctx context.Context, phi pnp.Denoiser, opt pnp.Options, most, made int, progress *meter.Meter) (backend.Buffer, int, error) {
	if t.Anneal != nil {
		return t.Anneal(ctx, opt.Start, most-1, progress.Steps(made, strength.AnnealedSteps))
	}
	opt.MaxIterations, opt.Progress = most/2, progress.Run(made, 2)
	x, report, err := t.run(ctx, t.Y, phi, opt)
	return x, report.Iterations, err
}

// run makes one of the runs.
func (t twoRuns) run(ctx context.Context, y backend.Buffer, phi pnp.Denoiser, opt pnp.Options) (_ backend.Buffer, _ pnp.Report, err error) {
	if t.Freeze != nil {
		if phi, err = t.Freeze(ctx, opt.Start); err != nil {
			if opt.TakeStart {
				opt.Start.Free()
			}
			return nil, pnp.Report{}, err
		}
	}
	return pnp.Solve(ctx, t.dev, y, t.K, phi, opt)
}

// addResidual returns y + (y − Kx), and the root mean square of y − Kx.
func (t twoRuns) addResidual(x backend.Buffer) (_ backend.Buffer, left float64, err error) {
	b, err := t.dev.Alloc(t.Y.Shape())
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			b.Free()
		}
	}()
	if err := t.K.Apply(b, x); err != nil {
		return nil, 0, err
	}
	var square [1]float64
	if err := t.dev.Reduce(square[:], backend.Reduction{Kind: backend.DiffSquares, X: t.Y, Y: b}); err != nil {
		return nil, 0, err
	}
	samples := float64(t.Y.Shape().Len())
	if t.Kept != nil {
		share, rest := t.Kept()
		samples *= share
		square[0] = max(0, square[0]-rest)
	}
	left = math.Sqrt(square[0] / max(samples, 1))
	return b, left, t.dev.LinearCombination(b, backend.Term{A: 2, X: t.Y}, backend.Term{A: -1, X: b})
}
