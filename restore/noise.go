package restore

import (
	"context"
	"image"
	"slices"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
)

// NoiseEstimate describes the noise of an image. Standard deviations are in units of the full intensity range.
type NoiseEstimate struct {
	// Kind is "none" for noise too weak to be worth removing, "white" for noise about as strong at all spatial
	// frequencies, and "coarse" for noise that is stronger at low ones, as cameras and compression leave it.
	Kind string
	// Sigma is the noise level of the image: for white noise the standard deviation, for coarse noise two to three
	// times as much. 0 means no noise.
	Sigma float64
	// Levels is the noise level to give a denoiser, for each square of 16 pixels, or of 16·n if every n×n pixels of the image are
	// equal. A network has learned which levels give the best results: low ones for texture that would be lost, 0 where
	// there is nothing to remove. For a grey image they are √3 times its noise, as a colour network meets it. Levels is
	// nil if the estimate is one number, as in Deblur.
	Levels *denoise.LevelMap
	// PerChannel is the standard deviation of white noise in each channel. It is nil if Levels is not.
	PerChannel []float64
	// Reliable reports that there is little doubt. Otherwise Note says in one sentence what is doubtful, and what may
	// help.
	Reliable bool
	Note     string

	// levels are the maps for each kind of denoiser; Levels is one of them.
	levels [noise.Denoisers]*denoise.LevelMap
}

// EstimateNoise estimates the noise of an image. A network has learned which noise levels give the best results.
// Invisible pixels have no influence. It looks at its context between passes over the image.
func EstimateNoise(ctx context.Context, img image.Image) (NoiseEstimate, error) {
	p, err := open(ctx, img, 0)
	if err != nil {
		return NoiseEstimate{}, err
	}
	dev, err := cpu.Open()
	if err != nil {
		return NoiseEstimate{}, err
	}
	kept := &networks.Kept{}
	p, _ = p.reduced(nil)
	e, err := p.noise(ctx, denoising.Meter{Kept: kept, Device: dev})
	kept.Free()
	if closed := dev.Close(); err == nil {
		err = closed
	}
	return *estimateOf(e).resized(1, p.repetition), err
}

// noise measures that of a picture as Denoise does.
func (p opened) noise(ctx context.Context, m denoising.Meter) (outcome.Estimate, error) {
	p, _, err := p.prepared(ctx, true)
	if err != nil {
		return outcome.Estimate{}, err
	}
	return m.Map(ctx, p.planes)
}

// Part returns the estimate for the rectangle r of the image, as LevelMap.Part does.
func (e NoiseEstimate) Part(r image.Rectangle) NoiseEstimate {
	e.levels = e.maps()
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

// resized returns the estimate for an image of which so many pixels in a row become as many as to.
func (e *NoiseEstimate) resized(from, to int) *NoiseEstimate {
	if e == nil {
		return nil
	}
	out := *e
	out.levels = e.maps()
	for k, m := range out.levels {
		if m == nil {
			continue
		}
		sized := *m
		sized.Side = m.Side * to / from
		if out.levels[k] = &sized; e.Levels == m {
			out.Levels = &sized
		}
	}
	return &out
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
		ByDenoiser: e.maps(),
	}
}

// maps returns the map for each kind of denoiser. One that the caller has put in the place of Levels is for all of them.
func (e *NoiseEstimate) maps() [noise.Denoisers]*denoise.LevelMap {
	maps := e.levels
	if e.Levels != nil && !slices.Contains(maps[:], e.Levels) {
		for k := range maps {
			maps[k] = e.Levels
		}
	}
	return maps
}
