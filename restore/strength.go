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
	energy := 0.0
	for _, w := range kernel.Weights {
		energy += float64(w) * float64(w)
	}
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
