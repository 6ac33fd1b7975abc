package deblurring

import (
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/strength"
)

// networkStep is τ‖K‖² of the proximal step that deblurring with a network takes.
func networkStep(c *networks.Choice, sigma float64) float64 {
	if c.Guided() {
		return strength.GuidedDeblurStep(sigma)
	}
	return strength.DeblurStep
}

// level is the noise level that a network is used for with τ‖K‖² = step.
func level(c *networks.Choice, sigma float64, kernel deblur.Kernel, step float64) float64 {
	if c.Guided() {
		return strength.GuidedDeblurLevel(sigma, kernel.Energy(), step)
	}
	return strength.DeblurLevel(sigma, kernel.Energy(), step)
}

// disturbance returns what deblurring has to expect besides what a kernel of energy ‖k‖² says, for
// noise of an estimated standard deviation sigma (strength.Disturbance).
func disturbance(p *imageplanes.Planes, sigma, energy float64) float64 {
	return strength.Disturbance(sigma, energy, p.Contrast())
}

// adaptation returns the factor of Adaptation for the second run of Deblur, whose first one
// had the result p, for a kernel with the energy ‖k‖².
func adaptation(p *imageplanes.Planes, energy float64) float64 {
	g := p.Gradients(1)
	if g == nil || g.Mean == 0 {
		return 1 // there is nothing to restore
	}
	return strength.DeblurFactor(g.Mean, energy)
}
