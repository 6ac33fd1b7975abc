package denoising

import (
	"cmp"
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/tv"
)

// byTV solves the proximal problem of total variation for all channels.
func (j Job) byTV(ctx context.Context, p *imageplanes.Planes, report *outcome.Report) ([]float32, error) {
	alpha, coupling := tv.Tuned(report.Noise.Sigma, p.Channels)
	report.Weight = alpha * j.Strength
	report.Iteration.Tolerance = cmp.Or(j.Tolerance, tv.DefaultRelativeGap)
	progress := meter.New(j.Progress, report.Iteration.Tolerance)
	prox, err := tv.New(j.Device, p.Shape(), tv.Options{
		Alpha: report.Weight, Coupling: coupling, RelativeGap: report.Iteration.Tolerance, MaxIterations: j.Iterations,
		Progress: func(p backend.Progress) error { return progress.Report(p.Fraction, p.Iteration, p.Residual) },
	})
	if err != nil {
		return nil, err
	}
	defer prox.Free()
	report.Averagedness, report.Certified = prox.Averagedness()
	out, err := j.apply(p, func(dst, src backend.Buffer) error { return prox.Apply(ctx, dst, src) })
	if err != nil {
		return nil, err
	}
	solved := prox.Report()
	for _, g := range solved.Groups {
		report.Iteration.Count = max(report.Iteration.Count, g.Iterations)
	}
	report.Iteration.Converged, report.Iteration.Residual = solved.Converged, solved.RelativeGap()
	return out, progress.End()
}
