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

// Solve finds the image x of measurements y = Kx + noise, for a linear operator K of the caller's own. It runs the
// plug-and-play proximal gradient iteration of Inpaint and Upscale from Kᵀy/‖K‖². K treats all channels alike. y has
// the size of its range, the result that of its domain, and both have 1 or 3 channels.
//
// on makes K on the device that Solve computes on. Solve frees K after the call if it has a method Free. An operator
// on plain numbers is a few lines with operator.Host, whose method On is such a function; deblur.New and
// operator.Compose make others. The certificate rests on K.Norm and on the adjoint: operator.Check tries to refute them
// first. Package operatortest tries longer, and checks that K is linear.
//
// The noise level is 0 by default. Sigma sets it in the units of y. The strength of the prior follows from it for
// images on [0,1]: a network is used for noise of √(0.02² + (1.45·σ/‖K‖)²) times Strength, or with a guide √(0.015² +
// (0.64·σ/‖K‖)²). For a grey image and a colour network σ is multiplied by √3. The default prior is the first of
// "original", "guided", "general", "strict" and "tv" that the program has; Method, Weights or Prior choose another.
//
// Errors are those of on and of K, and those of Denoise. Measurements of another size than K's range, a norm
// below 1e-15 or above 1e15, and what operator.Check refuses are errors too.
func Solve(ctx context.Context, on func(backend.Device) (operator.Linear, error), y *Planar, options ...Option) (*Planar, *Report, error) {
	r, err := forOne(taskSolve, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Solve(ctx, on, y)
}

// Solve is the function Solve with the options of r.
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
	if k == nil {
		return nil, nil, errors.New("restore: the operator is nil")
	}
	if f, ok := k.(interface{ Free() }); ok {
		defer f.Free()
	}
	h, w := k.Range()
	norm, _ := k.Norm()
	if h != y.Height || w != y.Width {
		return nil, nil, fmt.Errorf("restore: the measurements have %d×%d samples, and the range of the operator %d×%d", y.Height, y.Width, h, w)
	}
	if err := inverse.CheckNorm(norm); err != nil {
		return nil, nil, err
	}
	const steps, seed = 5, 1
	if err := operator.Check(ctx, dev, k, y.Channels, steps, seed); err != nil {
		return nil, nil, err
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
