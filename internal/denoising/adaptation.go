package denoising

import (
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/strength"
)

// adaptation returns the factor on the strength for an image with noise of standard deviation
// sigma in each channel, through a network that meets it as noise of level (networks.Choice.AxisNoise).
func adaptation(p *imageplanes.Planes, sigma, level float64) float64 {
	g := p.Gradients(strength.GradientSide)
	if g == nil {
		return 1
	}
	return strength.DenoiseFactor(*g, sigma, level, p.Channels, p.Saturated())
}
