// Package denoising decides what is done about the noise of an image, and does it. It fills impulses, and finds the
// noise level of each square and the denoiser (Meter). It brings a dark image to the full range, applies the denoiser
// (Job), and brightens the shadows that noise has darkened. Package noise has the measurements. restore.Denoise opens
// and closes the image around it.
package denoising

import (
	"context"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
)

// Job is what Denoise is to do.
type Job struct {
	Device backend.Device
	Choice *networks.Choice
	// Coarse, if not nil, is the denoiser for coarse noise (outcome.CoarseNoise).
	Coarse     func() (*networks.Choice, error)
	Strength   float64
	Adapt      bool
	Shadows    bool
	Iterations int
	Tolerance  float64
	Progress   backend.ProgressFunc
	// Overwrite says that nobody needs the samples of the image any more.
	Overwrite bool
}

// Denoise returns the samples of an image without its noise, which the report has, and completes the report.
func (j Job) Denoise(ctx context.Context, p *imageplanes.Planes, report *outcome.Report) ([]float32, error) {
	if report.Noise.Noiseless() && j.Choice.Prior == nil {
		report.Unchanged, report.Method = report.Noise.Impulses == 0, ""
		report.Iteration.Converged, report.Averagedness, report.Certified = true, 1, true
		return slices.Clone(p.Pix), meter.New(j.Progress, 0).End()
	}
	if e := report.Noise.Estimate; e != nil && e.Kind == outcome.CoarseNoise && j.Choice.Prior == nil {
		if j.Coarse != nil {
			var err error
			if j.Choice, err = j.Coarse(); err != nil {
				return nil, err
			}
			j.Device = j.Choice.Device(j.Device)
		}
		report.Method = j.Choice.Method
	}
	denoise := j.byNetwork
	switch {
	case j.Choice.Prior != nil:
		denoise = j.byPrior
	case j.Choice.Method == networks.TV:
		denoise = j.byTV
	}
	return p.InRange(imageplanes.ForPriors, j.Overwrite, report, func(bright *imageplanes.Planes, factor float64) ([]float32, error) {
		out, err := denoise(ctx, bright, report)
		if err == nil && factor == 1 && j.Shadows && j.Choice.Prior == nil && report.Noise.Estimate != nil {
			mendShadows(p, out, j.Choice.Method, &report.Noise)
		}
		return out, err
	})
}
