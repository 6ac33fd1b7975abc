package strength

import "math"

// The noise level of the denoiser that follows a proximal step of deblurring, over √(τ‖K‖²)·σ
// under a wide blur: what it is trained for, and what it is used for as a share of that, together
// 1.026. With the network deblur, 0.95 has 0.04 dB more than 1 at noise of 2.55 of 255, and 0.02
// less at 17.85.
const (
	trainedFor = 1.08
	usedFor    = 0.95
)

// DeblurStep is τ‖K‖² of the proximal step that deblurring with a network takes.
const DeblurStep = 10

// PriorLevel returns the noise level of the denoiser that follows a proximal step with
// τ‖K‖² = step when a photograph with noise of standard deviation sigma is deblurred, under a
// kernel with the energy ‖k‖₂²:
//
//	1.08·√step·σ·(1 − 0.3·min(‖k‖₂², 1)).
//
// Half-quadratic splitting has √τ·σ: the proximal map of τ·½‖Kx − y‖² is the most probable
// image if the noise in y has the variance σ², and that of the denoiser's image as an
// estimate is τσ². On photographs under eight camera shakes the rule is within about 10 % of the
// best level for restore.Deblur at noise of 2.55, 7.65, 12.75 and 17.85 of 255, for step from 5 to
// 20; under Gaussians, boxes, disks and motions within about 30 %, mostly at a cost of 0.1 dB or
// less. The last factor is for kernels that hardly blur: where nothing is lost, the proximal step
// has little to amplify.
func PriorLevel(sigma, energy, step float64) float64 {
	return trainedFor * math.Sqrt(step) * sigma * (1 - 0.3*min(energy, 1))
}

// DeblurLevel returns the noise level that a network is used for where PriorLevel is what such
// networks are trained for: 0.95 of it.
func DeblurLevel(sigma, energy, step float64) float64 {
	return usedFor * PriorLevel(math.Max(sigma, LeastSigma), energy, step)
}
