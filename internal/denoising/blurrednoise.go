package denoising

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noiselevel"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
)

// brightnessAlone is by how much the level along the axis of brightness exceeds that of the colours where noise
// is in brightness alone.
const brightnessAlone = 1.5

// White measures the part of the noise that is white: what is left to see in a photograph that
// is blurred, whose own low frequencies look like coarse noise.
func White(p *imageplanes.Planes) (outcome.Estimate, error) {
	m, err := noiselevel.Estimate(p.Pix, p.Channels, p.Height, p.Width)
	if err != nil {
		return outcome.Estimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := outcome.Estimate{Kind: outcome.WhiteNoise, Sigma: m.Sigma, PerChannel: m.PerChannel, Reliable: m.Reliable, Note: m.Note}
	if m.Sigma == 0 {
		e.Kind = outcome.NoNoise
	}
	return e, nil
}

const (
	// An image to enlarge has the level of the map where that is coarse noise, at least leastCoarse, and
	// coarser times the white part: what a camera has smoothed has little white noise left. Enlarging makes it
	// coarser yet, and takes enlarged times the level.
	leastCoarse, coarser, enlarged = 0.012, 2.0, 2.0
)

// whiteOrBright is White, or noise in brightness alone, which has nothing along the axes of colour that
// White looks at.
func whiteOrBright(p *imageplanes.Planes) (outcome.Estimate, error) {
	e, err := White(p)
	if err != nil || p.Channels != 3 {
		return e, err
	}
	light := &imageplanes.Planes{Width: p.Width, Height: p.Height, Channels: 1, Pix: p.Mean()}
	bright, err := White(light)
	if err != nil {
		return e, err
	}
	bright.Sigma = strength.AlongBrightness(bright.Sigma, 3)
	if bright.Reliable && bright.Sigma > brightnessAlone*e.Sigma {
		bright.PerChannel = slices.Repeat(bright.PerChannel, 3)
		return bright, nil
	}
	return e, nil
}

// Enlarging measures the noise of an image that is to be enlarged.
func (m Meter) Enlarging(ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
	white, err := whiteOrBright(p)
	if err != nil {
		return outcome.Estimate{}, err
	}
	e, err := m.Map(ctx, p)
	if err != nil || e.Kind != outcome.CoarseNoise || e.Sigma < max(leastCoarse, coarser*white.Sigma) {
		return white, err
	}
	e.Sigma *= enlarged
	return e, nil
}
