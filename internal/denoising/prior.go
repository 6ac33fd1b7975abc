package denoising

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/pnp"
)

// byPrior applies the denoiser of the caller's own.
func (j Job) byPrior(ctx context.Context, p *imageplanes.Planes, report *outcome.Report) ([]float32, error) {
	progress := meter.New(j.Progress, 0)
	if err := progress.Report(0, 0, 0); err != nil {
		return nil, err
	}
	report.Averagedness, report.Certified = j.Choice.Prior.Averagedness()
	out := imageplanes.New(p.Channels, p.Height, p.Width)
	if err := applyTo(ctx, j.Device, j.Choice.Prior, out, p); err != nil {
		return nil, err
	}
	report.Iteration.Converged = true
	if err := checkFinite(out.Pix, p, j.Choice.Method); err != nil {
		return nil, err
	}
	return out.Pix, progress.End()
}

// applyTo sets out to Φ(p).
func applyTo(ctx context.Context, dev backend.Device, phi pnp.Denoiser, out, p *imageplanes.Planes) error {
	src, err := imageplanes.Lend(dev, p.Shape(), p.Pix)
	if err != nil {
		return err
	}
	defer src.Free()
	dst, fetch, err := imageplanes.Borrow(dev, p.Shape(), out.Pix)
	if err != nil {
		return err
	}
	defer dst.Free()
	if err := phi.Apply(ctx, dst, src); err != nil {
		return err
	}
	return fetch()
}

// checkFinite finds what a network has made too large for float32, as one may that has
// no bound.
func checkFinite(pix []float32, p *imageplanes.Planes, method string) error {
	for i, v := range pix {
		if v-v != 0 {
			n := p.Width * p.Height
			return fmt.Errorf("restore: method %q makes %v of the sample at column %d, row %d; use a certified one", method, v, i%n%p.Width, i%n/p.Width)
		}
	}
	return nil
}
