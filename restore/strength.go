package restore

import (
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/tv"
)

// leastSigma is the noise level below which a prior becomes no weaker.
const leastSigma = strength.LeastSigma

// DeblurWeight returns the weight λ of total variation in ½‖Kx − y‖² + λ·TV(x) that
// is best on average for photographs with noise of standard deviation sigma under
// the kernel's blur, 1.67·σ^1.41·‖k‖₂^0.72, and the coupling that it is meant for. channels is
// 1 or 3. Below a sigma of 0.001 it falls no further.
func DeblurWeight(sigma float64, kernel deblur.Kernel, channels int) (lambda float64, coupling tv.Coupling) {
	return strength.DeblurWeight(sigma, kernel.Energy(), channels), iterationCoupling(channels)
}

// iterationCoupling is the coupling of total variation in an iteration.
func iterationCoupling(channels int) tv.Coupling {
	if channels == 1 {
		return tv.PerChannel()
	}
	return tv.Opponent(strength.IterationChroma)
}

// networkStep is τ‖K‖² of the proximal step that deblurring with the network of the settings takes.
func (c settings) networkStep(sigma float64) float64 {
	if c.guided() {
		return strength.GuidedDeblurStep(sigma)
	}
	return strength.DeblurStep
}

// DeblurLevel returns the noise level that Deblur uses a network for, for a photograph
// with noise of standard deviation sigma under the kernel's blur and with the default step:
// 0.95·deblur.PriorLevel, that is 3.2·σ under a wide blur. A network with a guide is used for about
// half of it.
func DeblurLevel(sigma float64, kernel deblur.Kernel) float64 {
	return strength.DeblurLevel(sigma, kernel.Energy(), strength.DeblurStep)
}

// deblurLevel is the noise level that the network of the settings is used for with τ‖K‖² = step.
func (c settings) deblurLevel(sigma float64, kernel deblur.Kernel, step float64) float64 {
	if c.guided() {
		return strength.GuidedDeblurLevel(sigma, kernel.Energy(), step)
	}
	return strength.DeblurLevel(sigma, kernel.Energy(), step)
}

// priorStrength is how strong the two kinds of prior are to be, before Strength.
type priorStrength struct {
	level  func(sigma float64) float64 // noise level that a network is for, given the noise that it meets (axisNoise)
	guided func(sigma float64) float64 // the same for one with a guide
	weight float64                     // λ of total variation in ½‖Kx − y‖² + λ·TV(x)
}

func inpaintingStrength(sigma float64, channels int) priorStrength {
	return priorStrength{level: strength.InpaintLevel, guided: strength.GuidedInpaintLevel, weight: strength.InpaintWeight(sigma, channels)}
}

func upscalingStrength(sigma float64, factor, channels int) priorStrength {
	return priorStrength{
		level:  func(sigma float64) float64 { return strength.UpscaleLevel(sigma, factor) },
		guided: func(sigma float64) float64 { return strength.GuidedUpscaleLevel(sigma, factor) },
		weight: strength.UpscaleWeight(sigma, factor, channels),
	}
}
