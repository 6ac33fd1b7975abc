// Package inverse solves linear inverse problems, y = Kx + noise, by the plug-and-play iterations that restore has in
// common: which prior, how strong, how many runs, and what the report says of them.
package inverse

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/tv"
)

// CheckNorm refuses the bound of a norm whose square, or one over it, float32 cannot hold: no step fits it.
func CheckNorm(bound float64) error {
	if !(bound >= 1e-15 && bound <= 1e15) {
		return fmt.Errorf("restore: the operator has a norm of at most %v, want a bound from 1e-15 to 1e15", bound)
	}
	return nil
}

// Problem is a linear inverse problem: to find x from y = Kx + noise.
type Problem struct {
	K        operator.Linear
	Channels int
	Y, Start []float32 // of K's range and domain
	Prior    PriorStrength
	Peak     float64 // upper end of the box, 0: 1
}

// Solve runs the plug-and-play proximal gradient iteration for any operator, with a network
// twice, and returns x.
func (p Problem) Solve(ctx context.Context, dev backend.Device, choice *networks.Choice, c Options, report *outcome.Report) ([]float32, error) {
	h, w := p.K.Domain()
	evenH, evenW := choice.Even(h, w)
	if evenH == h && evenW == w {
		return p.solve(ctx, dev, choice, c, report)
	}
	k, err := operator.Widen(dev, p.K, evenH, evenW)
	if err != nil {
		return nil, err
	}
	defer k.Free()
	start := &imageplanes.Planes{Channels: p.Channels, Height: h, Width: w, Pix: p.Start}
	wide := start.Mirrored(evenH, evenW)
	p.K, p.Start = k, wide.Pix
	x, err := p.solve(ctx, dev, choice, c, report)
	if err != nil {
		return nil, err
	}
	return start.Unmirrored(x, wide), nil
}

// solve is Solve for images with the sides that the denoiser asks for.
func (p Problem) solve(ctx context.Context, dev backend.Device, choice *networks.Choice, c Options, report *outcome.Report) ([]float32, error) {
	h, w := p.K.Domain()
	domain := backend.Image(p.Channels, h, w)
	h, w = p.K.Range()
	y, err := imageplanes.Lend(dev, backend.Image(p.Channels, h, w), p.Y)
	if err != nil {
		return nil, err
	}
	defer y.Free()
	start, err := imageplanes.Lend(dev, domain, p.Start)
	if err != nil {
		return nil, err
	}
	defer start.Free()
	phi, network, done, err := p.denoiser(ctx, dev, domain, choice, c, report)
	if err != nil {
		return nil, err
	}
	defer done()
	run := Iteration{K: p.K, Y: y, Phi: phi, Start: start, Step: c.Step, Peak: p.Peak, Tolerance: defaultTolerance}
	if network != nil && network.Network.Guided() {
		run.Tolerance = guidedTolerance
		run.Freeze = func(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error) {
			return network.GuideAt(ctx, p.K, y, x, pnp.GradientStep, pnp.Options{Step: c.Step, Peak: p.Peak}, c.Strength)
		}
	}
	x, progress, err := run.Solve(ctx, dev, choice.Method, c, report)
	if err != nil {
		return nil, err
	}
	defer x.Free()
	if network != nil {
		network.Describe(report, c.Strength)
	}
	out := make([]float32, domain.Len())
	if err := dev.Download(out, x); err != nil {
		return nil, err
	}
	return out, progress.End()
}

// defaultTolerance is the relative residual at which Inpaint and Upscale end. By measurement
// on photographs stopping here costs 0.05 dB of upscaling, and nothing of inpainting.
const defaultTolerance = 5e-5

// guidedTolerance is that of networks with a guide, which settle more slowly where there is
// no noise: to go on costs as many applications again, for 0.03 dB at most.
const guidedTolerance = 1e-4

// denoiser returns Φ for one run, the network that it is, if it is one, and what to call when done
// with it.
func (p Problem) denoiser(ctx context.Context, dev backend.Device, domain backend.Shape, choice *networks.Choice, c Options, report *outcome.Report) (pnp.Denoiser, *networks.Fitted, func(), error) {
	if choice.Prior != nil {
		return choice.Prior, nil, func() {}, nil
	}
	if choice.Method != networks.TV {
		sigma, err := choice.AxisNoise(p.Channels, report.Noise.Sigma)
		if err != nil {
			return nil, nil, nil, err
		}
		level := p.Prior.Level
		if choice.Guided() {
			level = p.Prior.Guided
		}
		network, err := choice.Fit(ctx, dev, p.Channels, level(sigma), c.Strength)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := network.ForIteration(); err != nil {
			network.Free()
			return nil, nil, nil, err
		}
		return network.Denoiser, network, network.Free, nil
	}
	step := c.Step
	if step == 0 {
		norm, _ := p.K.Norm()
		step = 1 / (norm * norm)
	}
	report.Weight = p.Prior.Weight * c.Strength
	prox, err := tv.New(dev, domain, tv.Options{Alpha: step * report.Weight, Coupling: Coupling(p.Channels)})
	if err != nil {
		return nil, nil, nil, err
	}
	return prox, nil, prox.Free, nil
}
