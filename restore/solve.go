package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/operator"
)

// Solve finds the image x of measurements y = Kx + noise, for a linear operator K of the caller's
// own, by the plug-and-play proximal gradient iteration of Inpaint and Upscale, started from
// Kᵀy/‖K‖². K maps every channel alike; y is as large as its range, and the result as its domain.
//
// on makes K on the device that Solve computes on, and K is freed after the call if it has a Free:
// a few lines with operator.Host, for one that works on plain numbers, whose On is such a function;
// or deblur.New, operator.Compose and the like. All that is proven rests on its Norm. Package
// operatortest checks whether it is linear and its adjoint one.
//
// The noise level is 0 by default, as that of Inpaint; Sigma gives it in the units of y. The prior's
// strength follows from it, for images on [0,1]: a network is used for noise of SolveLevel, times
// Strength, and one with a guide for √(0.015² + (0.64·σ/‖K‖)²). The prior is DefaultInversePrior unless
// Method names another, or weights or a Prior are given.
func Solve(ctx context.Context, on func(backend.Device) (operator.Linear, error), y *Planar, options ...Option) (*Planar, *Report, error) {
	r, err := forOne(taskSolve, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Solve(ctx, on, y)
}

// SolveLevel returns the noise level that Solve uses a network for, for noise of standard deviation
// sigma in the measurements of an operator whose norm is above 0: √(0.02² + (1.45·σ/‖K‖)²), for
// grey images through a network of colour with √3·σ in the place of σ.
func SolveLevel(sigma, norm float64) float64 { return strength.SolveLevel(sigma, norm) }

// Solve does what the function Solve does.
func (r *Restorer) Solve(ctx context.Context, on func(backend.Device) (operator.Linear, error), y *Planar, options ...Option) (*Planar, *Report, error) {
	c, done, err := r.begin(ctx, taskSolve, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	switch {
	case on == nil:
		return nil, nil, errors.New("restore: the operator is nil")
	case y == nil:
		return nil, nil, errors.New("restore: the measurements are nil")
	}
	if err := y.Check(); err != nil {
		return nil, nil, err
	}
	dev := c.on()
	k, err := on(dev)
	if err != nil {
		return nil, nil, err
	}
	if f, ok := k.(interface{ Free() }); ok {
		defer f.Free()
	}
	h, w := k.Range()
	norm, _ := k.Norm()
	switch {
	case h != y.Height || w != y.Width:
		return nil, nil, fmt.Errorf("restore: the measurements have %d×%d samples, and the range of the operator %d×%d", y.Height, y.Width, h, w)
	case !(norm > 0):
		return nil, nil, fmt.Errorf("restore: the operator has a norm of at most %v, want a bound above 0", norm)
	}
	start, err := backProjection(dev, k, y, norm)
	if err != nil {
		return nil, nil, err
	}
	report := &Report{Method: c.method, Noise: NoiseReport{Sigma: c.sigma, Given: c.sigma}}
	problem := inverse{k: k, channels: y.Channels, y: y.Pix, start: start.Pix, prior: priorStrength{
		level:  func(sigma float64) float64 { return strength.SolveLevel(sigma, norm) },
		guided: func(sigma float64) float64 { return strength.GuidedSolveLevel(sigma, norm) },
		weight: strength.SolveWeight(c.sigma, norm, y.Channels),
	}}
	if start.Pix, err = problem.solve(ctx, dev, c, report); err != nil {
		return nil, nil, err
	}
	return start, report, nil
}

// backProjection returns Kᵀy/‖K‖².
func backProjection(dev backend.Device, k operator.Linear, y *Planar, norm float64) (*Planar, error) {
	from, err := lend(dev, backend.Image(y.Channels, y.Height, y.Width), y.Pix)
	if err != nil {
		return nil, err
	}
	defer from.Free()
	h, w := k.Domain()
	x := NewPlanar(y.Channels, h, w)
	to, fetch, err := borrow(dev, backend.Image(x.Channels, h, w), x.Pix)
	if err != nil {
		return nil, err
	}
	defer to.Free()
	if err := k.Adjoint(to, from); err != nil {
		return nil, err
	}
	if err := fetch(); err != nil {
		return nil, err
	}
	for i, v := range x.Pix {
		x.Pix[i] = float32(float64(v) / (norm * norm))
	}
	return x, nil
}
