package deblurring

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/pnp"
)

// anneal makes the steps before the run with a guide, at most that many, from start on, which is given
// away, or where that is nil from an initial estimate for the noise that is assumed now. They are data step
// and network, as in the run, but each is for less noise than the one before, and for more than the run
// (strength.Annealed), and has the radii for what the network sees in it: half-quadratic splitting with a
// rising penalty (Geman and Yang 1995; Zhang et al., DPIR, 2021). None is part of what is proven, for each is
// another map: they choose where the run begins, and so what its radii are.
func (d *Problem) anneal(ctx context.Context, start backend.Buffer, steps int, progress func(step int, change float64) error) (x backend.Buffer, made int, err error) {
	if x = start; x == nil {
		d.sigma = d.retuning.sigma
		if x, err = d.start(ctx, d.starting); err != nil {
			return nil, 0, err
		}
	}
	given, done := x, false
	defer func() {
		if !done { // also after a panic of who is told about the progress
			given.Free()
		}
	}()
	for i := max(0, strength.AnnealedSteps-steps); i < strength.AnnealedSteps; i++ {
		change, err := d.annealed(ctx, x, strength.Annealed(d.retuning.current.Noise(), i))
		if err == nil {
			made++
			err = progress(made, change)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	done = true
	return x, made, nil
}

// annealed makes one step from x, for factor times the level of the run, and leaves its result there. It
// returns how much the network changed, relative to the result.
func (d *Problem) annealed(ctx context.Context, x backend.Buffer, factor float64) (change float64, err error) {
	f, err := d.retuning.current.Retuned(ctx, x.Shape().C, factor)
	if err != nil {
		return 0, err
	}
	defer f.Free()
	if err := d.beginAt(ctx, x, beyondWhite); err != nil {
		return 0, err
	}
	seen, err := d.data.Apply(ctx, d.dev, d.y, d.operator(), x, pnp.Options{Step: factor * factor * d.step, Peak: d.peak()})
	if err != nil {
		return 0, err
	}
	defer seen.Free()
	if err := f.Freeze(ctx, seen, d.strength); err != nil {
		return 0, err
	}
	d.retuning.current.Looks++
	if err := f.Apply(ctx, x, seen); err != nil {
		return 0, err
	}
	var sums [2]float64
	if err := d.dev.Reduce(sums[:], backend.Reduction{Kind: backend.DiffSquares, X: x, Y: seen}, backend.Reduction{Kind: backend.SumSquares, X: x}); err != nil {
		return 0, err
	}
	return math.Sqrt(sums[0] / max(sums[1], math.SmallestNonzeroFloat64)), nil
}
