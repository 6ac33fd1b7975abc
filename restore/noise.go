package restore

import (
	"context"
	"image"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/levelmap"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
)

// NoiseEstimate is what an image tells of its noise. Standard deviations are in units of the full
// intensity range.
type NoiseEstimate struct {
	// Kind is "none" for noise too weak to be worth removing; "white" for noise about as strong at all spatial
	// frequencies; "coarse" for noise that is stronger at low ones, as cameras and compression leave it.
	Kind string
	// Sigma is the median of Levels; the standard deviation of the noise where it is white, and two to three
	// times as much where it is coarse. 0 is no noise.
	Sigma float64
	// Levels is the noise level that a denoiser is to be told of, for each square of 16 pixels: the one that
	// was learned to give the best result. Where a denoiser would take texture it is low, and it is 0 where
	// there is nothing to remove. Nil of an estimate of the white part alone, as deblurring makes it.
	Levels *denoise.LevelMap
	// PerChannel is the standard deviation of white noise in each channel, of an estimate of the white part.
	PerChannel []float64
	// Reliable says that there is little doubt. Otherwise Note says in one sentence what is
	// doubtful, and what may help.
	Reliable bool
	Note     string

	// levels are the maps for each kind of denoiser; Levels is one of them.
	levels [levelmap.Denoisers]*denoise.LevelMap
}

// EstimateNoise finds the noise of an image by a network that has learned which levels give the best
// results, in what is visible of it.
func EstimateNoise(img image.Image) (NoiseEstimate, error) {
	p, err := open(img, 0)
	if err != nil {
		return NoiseEstimate{}, err
	}
	dev, err := cpu.Open()
	if err != nil {
		return NoiseEstimate{}, err
	}
	kept := &networks.Kept{}
	e, err := denoising.Meter{Kept: kept, Device: dev}.Map(context.Background(), p.planar.planes())
	kept.Free()
	if closed := dev.Close(); err == nil {
		err = closed
	}
	return *estimateOf(e), err
}

// Part returns the estimate of a part of the image that the estimate is of. A part may be larger: beyond
// the image the levels of the nearest squares hold.
func (e NoiseEstimate) Part(r image.Rectangle) NoiseEstimate {
	for k, m := range e.levels {
		if m == nil {
			continue
		}
		part := m.Part(r)
		if e.Levels == m {
			e.Levels = part
		}
		e.levels[k] = part
	}
	return e
}

// estimateOf is an estimate as a caller sees it.
func estimateOf(e outcome.Estimate) *NoiseEstimate {
	return &NoiseEstimate{
		Kind: string(e.Kind), Sigma: e.Sigma, Levels: e.Levels, PerChannel: e.PerChannel, Reliable: e.Reliable, Note: e.Note,
		levels: e.ByDenoiser,
	}
}

// inside is the way back.
func (e *NoiseEstimate) inside() outcome.Estimate {
	return outcome.Estimate{
		Kind: outcome.NoiseKind(e.Kind), Sigma: e.Sigma, Levels: e.Levels, PerChannel: e.PerChannel, Reliable: e.Reliable, Note: e.Note,
		ByDenoiser: e.levels,
	}
}
