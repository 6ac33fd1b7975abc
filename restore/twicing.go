package restore

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/pnp"
)

// twicing makes two runs of an iteration with a network. The fixed point x₁ of the first is
// too smooth: the residual y − Kx₁ holds noise, and detail that was taken for noise. The
// second, from x₁, is for y + (y − Kx₁), in which that detail counts twice (Tukey 1977; the
// first step of the Bregman iteration of Osher, Burger, Goldfarb, Xu and Yin, 2005). It is a run
// like any other, with the same proof, whatever x₁ is.
type twicing struct {
	dev backend.Device
	k   pnp.Operator
	y   backend.Buffer
	// retune, if not nil, returns the denoiser of the second run, given the root mean square
	// of y − Kx₁; nil for the same as before.
	retune func(ctx context.Context, left float64) (pnp.Denoiser, error)
}

// firstTolerance is how much farther from its fixed point than the second run the first one
// may end: what it leaves undone the second does.
const firstTolerance = 4

// runs says what the runs of a restoration did.
type runs struct {
	last       pnp.Report
	iterations int // of all
}

// solve returns the result of the second run. Of opt all but Progress is given, which is the
// meter's; both runs together make at most opt.MaxIterations, and if that is 1 there is
// one run. Only the second is drawn to its start (pnp.Options.Contraction).
func (t twicing) solve(ctx context.Context, phi pnp.Denoiser, opt pnp.Options, meter *meter) (backend.Buffer, runs, error) {
	if opt.MaxIterations == 1 {
		return once(ctx, t.dev, t.y, t.k, phi, opt, meter)
	}
	first := opt
	first.Tolerance, first.MaxIterations, first.Contraction = firstTolerance*opt.Tolerance, opt.MaxIterations/2, 0
	first.Progress = func(p pnp.Progress) error { return meter.pass(0, 2, 0, p) }
	x, before, err := pnp.Solve(ctx, t.dev, t.y, t.k, phi, first)
	if err != nil {
		return nil, runs{}, err
	}
	defer x.Free()
	y, left, err := t.addResidual(x)
	if err != nil {
		return nil, runs{}, err
	}
	defer y.Free()
	if t.retune != nil {
		other, err := t.retune(ctx, left)
		if err != nil {
			return nil, runs{}, err
		}
		if other != nil {
			phi = other
		}
	}
	opt.MaxIterations, opt.Start, opt.TakeStart = opt.MaxIterations-before.Iterations, x, true
	opt.Progress = func(p pnp.Progress) error { return meter.pass(1, 2, before.Iterations, p) }
	refined, report, err := pnp.Solve(ctx, t.dev, y, t.k, phi, opt)
	return refined, runs{report, before.Iterations + report.Iterations}, err
}

// once makes a single run.
func once(ctx context.Context, dev backend.Device, y backend.Buffer, k pnp.Operator, phi pnp.Denoiser, opt pnp.Options, meter *meter) (backend.Buffer, runs, error) {
	opt.Progress = func(p pnp.Progress) error { return meter.pass(0, 1, 0, p) }
	x, report, err := pnp.Solve(ctx, dev, y, k, phi, opt)
	return x, runs{report, report.Iterations}, err
}

// addResidual returns y + (y − Kx), and the root mean square of y − Kx.
func (t twicing) addResidual(x backend.Buffer) (_ backend.Buffer, left float64, err error) {
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
	left = math.Sqrt(square[0] / float64(t.y.Shape().Len()))
	return b, left, t.dev.LinearCombination(b, backend.Term{A: 2, X: t.y}, backend.Term{A: -1, X: b})
}

// pass reports an iteration of one of several runs, each of which is about as long, after as
// many iterations before it. A run ends at a tolerance or a number of iterations, whichever
// comes first.
func (m *meter) pass(number, passes, before int, p pnp.Progress) error {
	if number != m.at {
		m.at, m.first = number, p.Residual
	}
	share := math.Max(m.share(p.Residual), float64(p.Iteration)/float64(p.MaxIterations))
	return m.report((float64(number)+share)/float64(passes), before+p.Iteration, p.Residual)
}
