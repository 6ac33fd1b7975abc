package denoising

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
)

// White measures the part of the noise that is white: what is left to see in a photograph that is blurred, whose own low
// frequencies look like coarse noise. Of noise in brightness alone, as chroma subsampling leaves it, the level is that along
// the axis of brightness: a denoiser that is told less leaves it, and deblurring makes it larger.
func White(p *imageplanes.Planes) (outcome.Estimate, error) {
	m, err := noise.MeasureWhite(p.Pix, p.Channels, p.Height, p.Width)
	if err != nil {
		return outcome.Estimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := outcome.Estimate{Kind: outcome.WhiteNoise, Sigma: m.Sigma, InChannels: m.Sigma, PerChannel: m.PerChannel, Reliable: m.Reliable, Note: m.Note}
	switch {
	case m.Brightness > 0:
		e.Sigma, e.Reliable, e.Note = m.Brightness, true, ""
	case m.Sigma == 0:
		e.Kind = outcome.NoNoise
	}
	return e, nil
}

// Enlarging measures the noise of an image that is to be enlarged. An image in which the map has none has none. It has the
// level of the map where that is coarse noise of noise.LeastCoarse and noise.Coarser times the white part, times noise.Enlarged:
// what a camera has smoothed has little white noise left. Otherwise it has that of the white part. In an image of less than
// noise.MinPixels both may be detail, and it has the smaller one.
func (m Meter) Enlarging(ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
	e, err := m.Map(ctx, p)
	if err != nil || e.Kind == outcome.NoNoise {
		return e, err
	}
	white, err := White(p)
	if p.Height*p.Width < noise.MinPixels {
		white.Sigma = min(white.Sigma, e.Sigma)
	} else if e.Kind == outcome.CoarseNoise && e.Sigma >= max(noise.LeastCoarse, noise.Coarser*white.Sigma) {
		e.Sigma *= noise.Enlarged
		return e, err
	}
	return white, err
}
