package restore

import (
	"context"
	"errors"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/pnp"
)

// Prior chooses a denoiser of the caller's own, which is used as a network is, but with the strength
// that it has: Strength and Adaptation do not apply, nor does the noise level. In Deblur it follows
// a proximal step, so it should be for noise of DeblurLevel; in Solve for noise of SolveLevel.
// Report.Method is "prior". What Averagedness says is proven is taken for that, and the certificate
// of an iteration follows from it.
//
// It computes on Device; one that works on plain numbers is a PriorFunc. It must be safe for as
// many calls at a time as the caller makes.
func Prior(d pnp.Denoiser) Option {
	return option{"Prior", func(c *settings) error {
		if d == nil {
			return errors.New("restore: the prior is nil")
		}
		c.prior = d
		return nil
	}}
}

// PriorFunc is Prior for a function that sets the samples of dst to src denoised: images of the same
// size and channels, to be written to and to be read, and not to be kept. It needs to know nothing of
// devices. Nothing is proven of it, and so nothing of an iteration with it.
func PriorFunc(f func(ctx context.Context, dst, src *Planar) error) Option {
	return option{"PriorFunc", func(c *settings) error {
		if f == nil {
			return errors.New("restore: the prior is nil")
		}
		c.prior = &hostPrior{f: f}
		return nil
	}}
}

// hostPrior is a function as a denoiser on a device.
type hostPrior struct {
	f   func(ctx context.Context, dst, src *Planar) error
	dev backend.Device
}

func (p *hostPrior) Averagedness() (alpha float64, proven bool) { return 1, false }

func (p *hostPrior) Apply(ctx context.Context, dst, src backend.Buffer) error {
	s := src.Shape()
	from, to := NewPlanar(s.C, s.H, s.W), NewPlanar(s.C, s.H, s.W)
	if err := p.dev.Download(from.Pix, src); err != nil {
		return err
	}
	if err := p.f(ctx, to, from); err != nil {
		return err
	}
	if err := to.Check(); err != nil {
		return err
	}
	return p.dev.Upload(dst, to.Pix)
}

// methodPrior stands in a report for a denoiser of the caller's own.
const methodPrior = "prior"

// settlePrior returns an error where something is chosen besides a denoiser of the caller's own, or
// said of its strength.
func (c *settings) settlePrior(t task) error {
	for _, other := range []struct {
		option string
		given  bool
	}{
		{"Method", c.method != ""}, {"Weights", c.weights != nil}, {"Network", c.network != nil}, {"Strength", c.strength != 1},
	} {
		if other.given {
			return &OptionError{Option: other.option, Task: string(t) + " with a Prior", Want: "the methods of the library"}
		}
	}
	if own, ok := c.prior.(*hostPrior); ok {
		c.prior = &hostPrior{f: own.f, dev: c.on()}
	}
	c.method = methodPrior
	return nil
}

// denoisePrior applies the denoiser of the caller's own.
func denoisePrior(ctx context.Context, dev backend.Device, p *Planar, c settings, report *Report) ([]float32, error) {
	meter := newMeter(c.progress, 0)
	if err := meter.report(0, 0, 0); err != nil {
		return nil, err
	}
	report.Averagedness, report.Certified = c.prior.Averagedness()
	out := NewPlanar(p.Channels, p.Height, p.Width)
	if err := applyTo(ctx, dev, c.prior, out, p); err != nil {
		return nil, err
	}
	report.Iteration.Converged = true
	if err := checkFinite(out.Pix, p, c.method); err != nil {
		return nil, err
	}
	return out.Pix, meter.end()
}
