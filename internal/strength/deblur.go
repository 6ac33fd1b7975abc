package strength

import "math"

// PriorLevel returns the noise level of the denoiser that follows a proximal step with
// τ‖K‖² = step when a photograph with noise of standard deviation sigma is deblurred, under a
// kernel with the energy ‖k‖₂²:
//
//	1.08·√step·σ·(1 − 0.3·min(‖k‖₂², 1)).
//
// Half-quadratic splitting has √τ·σ: the proximal map of τ·½‖Kx − y‖² is the most probable
// image if the noise in y has the variance σ², and that of the denoiser's image as an
// estimate is τσ². The last factor is for kernels that hardly blur: where nothing is lost, the proximal step
// has little to amplify.
func PriorLevel(sigma, energy, step float64) float64 {
	return trainedFor * math.Sqrt(step) * sigma * (1 - 0.3*min(energy, 1))
}

// DeblurLevel returns the noise level that a network is used for where PriorLevel is what such
// networks are trained for: 0.95 of it.
func DeblurLevel(sigma, energy, step float64) float64 {
	return usedFor * PriorLevel(math.Max(sigma, MinSigma), energy, step)
}

// GuidedDeblurLevel returns the level for a network with a guide: half of DeblurLevel, and more of it
// where there is more noise, up to a tenth from 17.85 of 255 on.
func GuidedDeblurLevel(sigma, energy, step float64) float64 {
	more := min(max(math.Pow(sigma/(2.55/255), 0.05), 1), 1.1)
	return 0.5 * more * DeblurLevel(sigma, energy, step)
}

// GuidedDeblurStep returns τ‖K‖² of the proximal step that deblurring by a network with a guide takes for noise
// of standard deviation sigma, at least 0: DeblurStep up to 7.65 of 255, and less where there is more noise, down
// to half of it from 18 of 255 on. By σ·√step the network is then for less noise, and asked more often.
func GuidedDeblurStep(sigma float64) float64 {
	return DeblurStep * min(max(math.Pow(7.65/255/sigma, 0.8), 0.5), 1)
}

// Annealed returns the factor on the run's level, above 0, that annealed step i of AnnealedSteps is for, from 0
// on: it falls geometrically, to be 1 for the run, which is step AnnealedSteps. The proximal step is longer by
// the factor's square, for half-quadratic splitting has one level for both (PriorLevel).
func Annealed(level float64, i int) float64 {
	first := min(max(annealedFrom/level, annealedMin), annealedMax)
	return math.Pow(first, 1-float64(i)/AnnealedSteps)
}

// DeblurFactor is DenoiseFactor for the second run of deblurring, whose first one's result has
// gradients of a mean above 0, for a kernel with the energy ‖k‖².
func DeblurFactor(mean, energy float64) float64 {
	return limited(0.22 + 0.13*math.Log(min(max(energy, minEnergy), maxEnergy)) - 0.053*math.Log(mean))
}

// CoarseNoise returns the level of white noise that deblurring is told where the noise of a camera has a power of sigma²
// at 0.1 cycles a pixel, the power of white noise being its variance: 2·σ^1.25. At lower frequencies such noise is
// stronger yet, and the stronger it is the more of them it drowns.
func CoarseNoise(sigma float64) float64 { return coarseLevel * math.Pow(sigma, coarsePower) }

// DeblurWeight returns the weight λ = 1.67·σ^1.41·‖k‖₂^0.72 of total variation in ½‖Kx − y‖² + λ·TV(x), K a blur by a
// kernel with the energy ‖k‖₂², for photographs of one or three channels: the wider the blur, the less noise reaches
// the gradient Kᵀ(Kx − y), and the less there is to be smoothed away.
func DeblurWeight(sigma, energy float64, channels int) float64 {
	return forChannels(channels, sigma, func(sigma float64) float64 {
		return 1.67 * math.Pow(math.Max(sigma, MinSigma), 1.41) * math.Pow(energy, 0.36)
	})
}

// Disturbance returns what deblurring has to expect besides what a kernel of energy ‖k‖² says: noise of
// an estimated standard deviation sigma, and the kernel's error, which is none where nothing is blurred.
// A kernel is never exact: it was measured, or estimated, or is the same all over the frame by assumption only. What
// the true image gives under it misses the photograph by more than the noise, and the difference acts as noise does.
// Their fourth powers are added, so that the error counts only where there is less noise than it: noise
// of 2.55 of 255 becomes 2.6.
func Disturbance(sigma, energy, contrast float64) float64 {
	e := kernelError * contrast * math.Sqrt(max(1-energy, 0))
	return math.Sqrt(math.Hypot(sigma*sigma, e*e))
}
