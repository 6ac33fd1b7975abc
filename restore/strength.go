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
	rule := func(sigma float64) float64 {
		return 1.67 * math.Pow(math.Max(sigma, leastSigma), 1.41) * math.Pow(energy, 0.36)
	}
	if channels == 1 {
		// The luma axis of three equal channels is √3 times one of them, and so is
		// its noise: total variation of both is the same problem at another scale.
		return rule(math.Sqrt(3)*sigma) / math.Sqrt(3), tv.PerChannel()
	}
	return rule(sigma), tv.Opponent(deblurChroma)
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

// correction returns by what the noise level of a network is multiplied in the second run
// of Deblur, if the first one has left left times as much of the photograph as there was
// said to be noise, and estimated times as much was estimated from it.
//
// With the first default prior, of ten blocks, a right level left 1.02 to 1.40 times as much of
// photographs under camera shakes, half of it 1.93 to 2.08 and twice it 0.53 to 1.01; what is
// estimated is within 0.98 and 1.02 of the truth. What is beyond the limits is made up for, as far as both agree: by
// itself neither tells noise from texture. A noise level that would be given wrong by a factor of
// two would cost up to 5 dB, while one that is about right is not touched.
func correction(left, estimated float64) float64 {
	left, estimated = min(left, mostRatio), min(max(estimated, 1/mostRatio), mostRatio)
	switch {
	case left > mostRight && estimated > mostRight:
		return min(left, estimated) / caution
	case left < usuallyLeft && estimated < leastRight:
		// What is left falls more slowly than the level rises: by its square root, about.
		return max(left*left/(usuallyLeft*usuallyLeft), estimated/leastRight)
	}
	return 1
}

// surelyMore times as much as there was said to be is not left at a right level, whatever the
// estimate is worth: all photographs of val left 1.15 to 1.43 times the noise at 2.55 of 255, and
// 1.80 times and more at half of the level.
const surelyMore = 1.6

// A ratio between leastRight and mostRight says nothing against the level, and usuallyLeft is
// what a right one leaves; one beyond mostRatio either way is taken for that.
const (
	leastRight  = 0.95
	mostRight   = 1.25
	usuallyLeft = 1.24
	mostRatio   = 4
	caution     = 1.05 // what a level is raised less than both say
)
