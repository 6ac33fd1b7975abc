package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/outcome"
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
// strength follows from it, for images on [0,1]: a network is used for noise of
// √(0.02² + (1.45·σ/‖K‖)²) times Strength, with √3·σ for grey images through a network of colour, and one with a guide for √(0.015² + (0.64·σ/‖K‖)²). The prior is the first of "original",
// "guided", "general", "strict" and "tv" that the program has unless Method names another, or weights or a Prior are given.
func Solve(ctx context.Context, on func(backend.Device) (operator.Linear, error), y *Planar, options ...Option) (*Planar, *Report, error) {
	r, err := forOne(taskSolve, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Solve(ctx, on, y)
}

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
	dev := c.device
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
	report := &outcome.Report{Method: c.choice.Method, Noise: outcome.Noise{Sigma: c.sigma, Given: c.sigma}}
	problem := inverse.Problem{K: k, Channels: y.Channels, Y: y.Pix, Start: start.Pix, Prior: inverse.Solving(c.sigma, norm, y.Channels)}
	if start.Pix, err = problem.Solve(ctx, dev, c.choice, c.iteration(), report); err != nil {
		return nil, nil, err
	}
	return start, reportOf(report), nil
}

// backProjection returns Kᵀy/‖K‖².
func backProjection(dev backend.Device, k operator.Linear, y *Planar, norm float64) (*Planar, error) {
	from, err := imageplanes.Lend(dev, backend.Image(y.Channels, y.Height, y.Width), y.Pix)
	if err != nil {
		return nil, err
	}
	defer from.Free()
	h, w := k.Domain()
	x := NewPlanar(y.Channels, h, w)
	to, fetch, err := imageplanes.Borrow(dev, backend.Image(x.Channels, h, w), x.Pix)
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
