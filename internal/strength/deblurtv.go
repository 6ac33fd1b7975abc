package strength

import "math"

// IterationChroma is the chroma weight of total variation in an iteration.
const IterationChroma = 3

// DeblurWeight returns the weight λ of total variation in ½‖Kx − y‖² + λ·TV(x), K a blur by a
// kernel with the energy ‖k‖₂², for photographs of one or three channels.
//
// The rule 1.67·σ^1.41·‖k‖₂^0.72 is a fit to the best weights at noise of 2.55, 7.65, 12.75 and
// 38 of 255 and kernels from no blur at all (‖k‖₂ = 1, where it agrees with AlphaOpponent) to
// camera shake 27 pixels wide: the wider the blur, the less noise reaches the gradient
// Kᵀ(Kx − y), and the less there is to be smoothed away.
func DeblurWeight(sigma, energy float64, channels int) float64 {
	return forChannels(channels, sigma, func(sigma float64) float64 {
		return 1.67 * math.Pow(math.Max(sigma, LeastSigma), 1.41) * math.Pow(energy, 0.36)
	})
}
