package denoising

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
)

// White measures the part of the noise that is white: what is left to see in a photograph that is blurred, whose own
// low frequencies look like coarse noise.
func White(p *imageplanes.Planes) (outcome.Estimate, error) {
	m, err := noise.MeasureWhite(p.Pix, p.Channels, p.Height, p.Width)
	if err != nil {
		return outcome.Estimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := outcome.Estimate{Kind: outcome.WhiteNoise, Sigma: m.Sigma, PerChannel: m.PerChannel, Reliable: m.Reliable, Note: m.Note}
	if m.Sigma == 0 {
		e.Kind = outcome.NoNoise
	}
	return e, nil
}

// whiteOrBright is White, or noise in brightness alone, which has nothing along the axes of colour that White looks at.
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
	if bright.Reliable && bright.Sigma > noise.BrightnessAlone*e.Sigma {
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
	if err != nil || e.Kind != outcome.CoarseNoise || e.Sigma < max(noise.LeastCoarse, noise.Coarser*white.Sigma) {
		return white, err
	}
	e.Sigma *= noise.Enlarged
	return e, nil
}
