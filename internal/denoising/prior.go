package denoising

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/outcome"
)

// byPrior applies the denoiser of the caller's own.
func (j Job) byPrior(ctx context.Context, p *imageplanes.Planes, report *outcome.Report) ([]float32, error) {
	progress := meter.New(j.Progress, 0)
	if err := progress.Report(0, 0, 0); err != nil {
		return nil, err
	}
	report.Averagedness, report.Certified = j.Choice.Prior.Averagedness()
	out, err := j.apply(p, func(dst, src backend.Buffer) error { return j.Choice.Prior.Apply(ctx, dst, src) })
	if err != nil {
		return nil, err
	}
	report.Iteration.Converged = true
	return out, progress.End()
}
