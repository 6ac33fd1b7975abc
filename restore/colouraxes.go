package restore

import "math"

// SigmaChroma sets the standard deviation of the noise along the two axes of colour that are
// orthogonal to brightness, (1,0,−1)/√2 and (1,−2,1)/√6, in Denoise; Sigma, given or estimated, is
// then that along the axis of brightness, (1,1,1)/√3. It must be positive and finite. The default is
// Sigma. Grey images have no such axes.
//
// The image is stretched along the axes of colour until its noise is as strong there as in brightness,
// denoised, and shrunk back: x → D⁻¹Φ(Dx). What is proven of Φ is then true in the norm ‖Dx‖ in place of
// ‖x‖ (Report.ColourStretch).
func SigmaChroma(s float64) Option {
	return option{"SigmaChroma", func(c *settings) error {
		if !(s > 0) || math.IsInf(s, 0) {
			return &OptionError{Option: "SigmaChroma", Value: s, Want: "a finite standard deviation above 0"}
		}
		c.sigmaChroma = s
		return nil
	}}
}

// mostStretch bounds the stretching of colour: beyond it float32 would lose the digits of what is
// shrunk.
const mostStretch = 64

// stretch returns the factor that makes noise of the standard deviation chroma as strong as luma; 1 where
// there is nothing to do.
func (c settings) stretch(luma float64, channels int) float64 {
	if c.sigmaChroma == 0 || channels != 3 {
		return 1
	}
	return min(max(math.Max(luma, leastSigma)/math.Max(c.sigmaChroma, leastSigma), 1/float64(mostStretch)), mostStretch)
}

// stretched returns a colour image whose distance from grey is factor times as large in every pixel:
// x + (factor − 1)·(x − mean(x)).
func (p *Planar) stretched(factor float64) *Planar {
	out := NewPlanar(p.Channels, p.Height, p.Width)
	red, green, blue := p.Plane(0), p.Plane(1), p.Plane(2)
	toRed, toGreen, toBlue := out.Plane(0), out.Plane(1), out.Plane(2)
	for i, r := range red {
		mean := (float64(r) + float64(green[i]) + float64(blue[i])) / 3
		toRed[i] = float32(mean + float64(factor*(float64(r)-mean)))
		toGreen[i] = float32(mean + float64(factor*(float64(green[i])-mean)))
		toBlue[i] = float32(mean + float64(factor*(float64(blue[i])-mean)))
	}
	return out
}
