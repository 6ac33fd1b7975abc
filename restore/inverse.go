package restore

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/tv"
)

// Kernel says that the image was blurred before pixels went missing (Inpaint) or before it
// was scaled down (Upscale): the blur is removed along with it. For Upscale the kernel is
// in pixels of the result. The default is no blur. Deblur has its kernel as an argument.
func Kernel(k deblur.Kernel) Option {
	return option{"Kernel", func(c *settings) error {
		if err := k.Check(); err != nil {
			return err
		}
		c.kernel = &k
		return nil
	}}
}

// inverse is a linear inverse problem: to find x from y = Kx + noise.
type inverse struct {
	k        operator.Linear
	channels int
	y, start []float32 // of K's range and domain
	prior    priorStrength
}

// solve runs the plug-and-play proximal gradient iteration for any operator, with a network
// twice, and returns x.
func (p inverse) solve(ctx context.Context, dev backend.Device, c settings, report *Report) ([]float32, error) {
	h, w := p.k.Domain()
	domain := backend.Image(p.channels, h, w)
	h, w = p.k.Range()
	y, err := lend(dev, backend.Image(p.channels, h, w), p.y)
	if err != nil {
		return nil, err
	}
	defer y.Free()
	start, err := lend(dev, domain, p.start)
	if err != nil {
		return nil, err
	}
	defer start.Free()
	phi, network, done, err := p.denoiser(ctx, dev, domain, c, report)
	if err != nil {
		return nil, err
	}
	defer done()
	run := iteration{k: p.k, y: y, phi: phi, start: start, step: c.step, tolerance: inverseTolerance}
	if network != nil && network.network.Guided() {
		run.tolerance = guidedInverseTolerance
		run.freeze = func(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error) {
			return network.guideAt(ctx, p.k, y, x, pnp.GradientStep, pnp.Options{Step: c.step}, c.strength)
		}
	}
	x, meter, err := run.solve(ctx, dev, c, report)
	if err != nil {
		return nil, err
	}
	defer x.Free()
	if network != nil {
		network.describe(report, c.strength)
	}
	out := make([]float32, domain.Len())
	if err := dev.Download(out, x); err != nil {
		return nil, err
	}
	return out, meter.end()
}

// inverseTolerance is the relative residual at which Inpaint and Upscale end. By measurement
// on photographs stopping here costs 0.05 dB of upscaling, and nothing of inpainting.
const inverseTolerance = 5e-5

// guidedInverseTolerance is that of networks with a guide, which settle more slowly where there is
// no noise: to go on costs as many applications again, for 0.03 dB at most.
const guidedInverseTolerance = 1e-4

// denoiser returns Φ for one run, the network that it is, if it is one, and what to call when done
// with it.
func (p inverse) denoiser(ctx context.Context, dev backend.Device, domain backend.Shape, c settings, report *Report) (pnp.Denoiser, *fitted, func(), error) {
	if c.prior != nil {
		return c.prior, nil, func() {}, nil
	}
	if c.method != TV {
		sigma, err := c.axisNoise(p.channels, report.Noise.Sigma)
		if err != nil {
			return nil, nil, nil, err
		}
		level := p.prior.level
		if c.guided() {
			level = p.prior.guided
		}
		network, err := c.fit(ctx, dev, p.channels, level(sigma))
		if err != nil {
			return nil, nil, nil, err
		}
		if err := network.forIteration(); err != nil {
			network.free()
			return nil, nil, nil, err
		}
		return network.Denoiser, network, network.free, nil
	}
	step := c.step
	if step == 0 {
		norm, _ := p.k.Norm()
		step = 1 / (norm * norm)
	}
	report.Weight = p.prior.weight * c.strength
	prox, err := tv.New(dev, domain, tv.Options{Alpha: step * report.Weight, Coupling: iterationCoupling(p.channels)})
	if err != nil {
		return nil, nil, nil, err
	}
	return prox, nil, prox.Free, nil
}
