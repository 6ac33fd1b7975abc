package estimate

import "math"

// parameters are what was tuned on photographs of BSDS500's val under camera shakes, with noise of
// 2.55 and 7.65 of 255; docs/notebook/kernel-estimation.md has what was compared.
type parameters struct {
	steps int // of image and kernel at each scale
	edges edgePrior
	// kernel is the prior of the kernel step.
	kernel kernelPrior
	// threshold and island are what cleaned drops after each scale.
	threshold, island float64
}

var tuned = parameters{
	steps:     5,
	edges:     edgePrior{lambda: 0.002, start: 0.5, last: 100, factor: 2},
	kernel:    kernelPrior{ridge: 0.15, sparsity: 0.001},
	threshold: 0.05,
	island:    0.1,
}

// edgesFor is the image step's prior for noise of standard deviation sigma. The less noise there is, the more is it what the
// prior does not know of photographs that decides, and below tunedSigma nothing else.
func edgesFor(sigma float64) edgePrior {
	const power = 0.7
	return tuned.edges.times(math.Pow(max(1, min(sigma, maxSigma)/tunedSigma), power))
}

// lastEdgesFor is that of the last steps. There the kernel is nearly right, so that texture that is
// taken for edges does less harm than edges that are missed, and λ goes on falling with the noise,
// as far as that was measured. It grows as σ², as that of a maximum a posteriori estimate. With less
// the kernel follows the noise.
func lastEdgesFor(sigma float64) edgePrior {
	const share, minSigma = 0.3, 0.00693
	of := min(max(sigma, minSigma), maxSigma) / tunedSigma
	return tuned.edges.times(share * of * of)
}

// times is the prior with λ multiplied.
func (p edgePrior) times(by float64) edgePrior {
	p.lambda *= by
	return p
}

// lastRidgeFor is the ridge of the last steps. Of a maximum a posteriori estimate it would grow as σ². With too much of it
// the kernel has too little weight at high frequencies, and more than its share at low ones.
func lastRidgeFor(sigma float64) float64 {
	const minRidge = 1. / 30
	return tuned.kernel.ridge * min(max(sigma*sigma/(tunedSigma*tunedSigma), minRidge), 1)
}

// tunedSigma is the noise for which the numbers of tuned were chosen, and with maxSigma λ grows no more.
const tunedSigma, maxSigma = 0.01, 0.2

// calm is the noise level below which the kernel's error limits deblurring, not the noise.
const calm = 0.0035

// islandFor is parameters.island in the last steps, for noise of standard deviation sigma. Real shakes have faint arms that
// can be distinguished from very weak noise. Without them the rest of the kernel moves to compensate. At coarser scales
// texture has such islands too.
func islandFor(sigma float64) float64 {
	const faint = 0.02
	if sigma < calm {
		return faint
	}
	return tuned.island
}
