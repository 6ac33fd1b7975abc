package denoising

import (
	"fmt"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
)

// White measures the white part of the noise. Deblurring needs it, because the low frequencies of a blurred photograph look
// like coarse noise. If the noise is in brightness alone, as chroma subsampling leaves it, the level is that along the axis of
// brightness: told a lower one, a denoiser leaves noise, and deblurring amplifies it.
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
