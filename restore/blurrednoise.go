package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/noiselevel"
	"github.com/averaged/imaging/internal/strength"
)

// brightnessAlone is by how much the level along the axis of brightness exceeds that of the colours where noise
// is in brightness alone.
const brightnessAlone = 1.5

// brightness returns the mean of the channels.
func (p *Planar) brightness() []float32 {
	mean := make([]float32, p.Width*p.Height)
	for c := range p.Channels {
		for i, v := range p.Plane(c) {
			mean[i] += v / float32(p.Channels)
		}
	}
	return mean
}

// whiteNoise measures the part of the noise that is white: what is left to see in a photograph that
// is blurred, whose own low frequencies look like coarse noise.
func (p *Planar) whiteNoise() (NoiseEstimate, error) {
	m, err := noiselevel.Estimate(p.Pix, p.Channels, p.Height, p.Width)
	if err != nil {
		return NoiseEstimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := NoiseEstimate{Kind: WhiteNoise, Sigma: m.Sigma, PerChannel: m.PerChannel, Reliable: m.Reliable, Note: m.Note}
	if m.Sigma == 0 {
		e.Kind = NoNoise
	}
	return e, nil
}

const (
	// A blurred photograph has the level of the map where that is coarse noise, at least leastCoarse, and
	// coarser times the white part: what a camera has smoothed has little white noise left. Deblurring brings it
	// back stronger than white noise, and takes shaken times the level.
	leastCoarse, coarser, shaken = 0.012, 2.0, 2.0
)

// whiteOrBright is whiteNoise, or noise in brightness alone, which has nothing along the axes of colour that
// whiteNoise looks at.
func (p *Planar) whiteOrBright() (NoiseEstimate, error) {
	e, err := p.whiteNoise()
	if err != nil || p.Channels != 3 {
		return e, err
	}
	light := &Planar{Width: p.Width, Height: p.Height, Channels: 1, Pix: p.brightness()}
	bright, err := light.whiteNoise()
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

// blurredNoise is the noise of what is blurred or coarsely sampled.
func (c settings) blurredNoise(ctx context.Context, p *Planar) (NoiseEstimate, error) {
	white, err := p.whiteOrBright()
	if err != nil {
		return NoiseEstimate{}, err
	}
	e, err := c.mapNoise(ctx, p)
	if err != nil || e.Kind != CoarseNoise || e.Sigma < max(leastCoarse, coarser*white.Sigma) {
		return white, err
	}
	e.Sigma *= shaken
	return e, nil
}
