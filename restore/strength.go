package restore

import (
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/tv"
)

// leastSigma is the noise level below which deblurring no longer gets weaker
// regularisation, and a network is no longer made weaker: about what rounding to 8 bits
// leaves. A blur cannot be undone without any regularisation, and a network cannot be
// taken to no noise at all.
const leastSigma = 0.001

// DeblurWeight returns the weight λ of total variation in ½‖Kx − y‖² + λ·TV(x) that
// is best on average for photographs with noise of standard deviation sigma under
// the kernel's blur, and the coupling that it is meant for. channels is 1 or 3.
//
// The rule λ = 1.67·σ^1.41·‖k‖₂^0.72 is a fit to the best weights at noise of 2.55,
// 7.65, 12.75 and 38 of 255 and kernels from no blur at all (‖k‖₂ = 1, where it
// agrees with tv.Alpha) to camera shake 27 pixels wide: the wider the blur, the less
// noise reaches the gradient Kᵀ(Kx − y), and the less there is to be smoothed away.
func DeblurWeight(sigma float64, kernel deblur.Kernel, channels int) (lambda float64, coupling tv.Coupling) {
	energy := kernel.Energy()
	lambda = forChannels(channels, sigma, func(sigma float64) float64 {
		return 1.67 * math.Pow(math.Max(sigma, leastSigma), 1.41) * math.Pow(energy, 0.36)
	})
	if channels == 1 {
		return lambda, tv.PerChannel()
	}
	return lambda, tv.Opponent(deblurChroma)
}

// deblurChroma is the chroma weight of deblurring.
const deblurChroma = 3

// networkStep is τ‖K‖² of the proximal step that deblurring with a network takes.
const networkStep = 10

// levelShare is the noise level that a network is used for by deblur.PriorLevel. With the
// default prior, 0.95 has 0.04 dB more than 1 at noise of 2.55 of 255, and 0.02 less at 17.85.
const levelShare = 0.95

// DeblurLevel returns the noise level that Deblur uses a network for, for a photograph
// with noise of standard deviation sigma under the kernel's blur and with the default step:
// 0.95·deblur.PriorLevel, that is 3.2·σ under a wide blur.
func DeblurLevel(sigma float64, kernel deblur.Kernel) float64 {
	return deblurLevel(sigma, kernel, networkStep)
}

// deblurLevel is DeblurLevel for τ‖K‖² = step.
func deblurLevel(sigma float64, kernel deblur.Kernel, step float64) float64 {
	return levelShare * deblur.PriorLevel(math.Max(sigma, leastSigma), kernel, step)
}
