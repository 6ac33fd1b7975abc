package restore

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/strength"
)

// anneal makes the steps before the run with a guide, at most that many, from start on, which is given
// away, or where that is nil from an initial estimate for the noise that is assumed now. They are data step
// and network, as in the run, but each is for less noise than the one before, down to the level of the run
// (strength.Annealed), and has the radii for what the network sees in it: half-quadratic splitting with a
// rising penalty (Geman and Yang 1995; Zhang et al., DPIR, 2021). None is part of what is proven, for each is
// another map: they choose where the run begins, and so what its radii are.
func (d *deblurring) anneal(ctx context.Context, start backend.Buffer, steps int, progress func(step int, change float64) error) (x backend.Buffer, made int, err error) {
	if x = start; x == nil {
		d.sigma = d.retuning.sigma
		if x, err = d.start(ctx, d.starting); err != nil {
			return nil, 0, err
		}
	}
	for i := max(0, strength.AnnealedSteps-steps); i < strength.AnnealedSteps; i++ {
		next, err := d.annealed(ctx, x, strength.Annealed(d.retuning.current.noise(), i))
		if err != nil {
			x.Free()
			return nil, 0, err
		}
		made++
		var sums [2]float64
		err = d.dev.Reduce(sums[:], backend.Reduction{Kind: backend.DiffSquares, X: next, Y: x}, backend.Reduction{Kind: backend.SumSquares, X: next})
		x.Free()
		if x = next; err == nil {
			err = progress(made, math.Sqrt(sums[0]/max(sums[1], math.SmallestNonzeroFloat64)))
		}
		if err != nil {
			x.Free()
			return nil, 0, err
		}
	}
	return x, made, nil
}

// annealed is one step, for factor times the level of the run.
func (d *deblurring) annealed(ctx context.Context, x backend.Buffer, factor float64) (next backend.Buffer, err error) {
	f, err := d.retuning.current.retuned(ctx, x.Shape().C, factor)
	if err != nil {
		return nil, err
	}
	defer f.free()
	seen, err := d.data.Apply(ctx, d.dev, d.y, d.k, x, factor*factor*d.step)
	if err != nil {
		return nil, err
	}
	defer seen.Free()
	if err := f.freeze(ctx, seen, d.strength); err != nil {
		return nil, err
	}
	d.retuning.current.looks++
	if next, err = d.dev.Alloc(seen.Shape()); err != nil {
		return nil, err
	}
	if err := f.Apply(ctx, next, seen); err != nil {
		next.Free()
		return nil, err
	}
	return next, nil
}
