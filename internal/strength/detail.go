package strength

import "math"

// Gradients are the lengths of an image's gradients, between blocks of GradientSide² pixels for
// DenoiseFactor, and between pixels for DeblurFactor.
type Gradients struct{ Mean, Median float64 }

// GradientSide is the side of the blocks of DenoiseFactor.
const GradientSide = 2

// DenoiseFactor returns the factor on the noise level of a network that follows the detail of an
// image of so many channels: with noise of standard deviation sigma in each, through a network
// that meets it as noise of level (AlongBrightness), and a share of samples that are black or
// white, where noise is cut off. It is fitted to 67 photographs of BSDS500's train at seven levels
// of noise from 5.1 to 76.5 of 255, given right or wrong by 4 %, by the least loss of PSNR with
// the network general (docs/notebook/adaptation.md).
func DenoiseFactor(g Gradients, sigma, level float64, channels int, saturated float64) float64 {
	// A gradient of noise of variance v has components of variance 2v, and its length Rayleigh's
	// distribution, whose mean is √(πv).
	noise := math.Pi * sigma * sigma / float64(channels*GradientSide*GradientSide)
	mean := math.Sqrt(max(g.Mean*g.Mean-noise, leastGradient*noise))
	return limited(-0.60 - 0.206*math.Log(level) - 0.123*math.Log(mean/level) - 0.273*math.Log(g.Median/level) - 2*saturated)
}

// leastGradient is what is left of a square mean gradient without its noise at least, as a share of
// the noise: with less the difference says nothing.
const leastGradient = 0.02

// DeblurFactor returns the same factor for the second run of deblurring, whose first one's result
// has gradients of a mean above 0, for a kernel with the energy ‖k‖². It is fitted to 40
// photographs of train, each under another camera shake, and 13 under eight of them, at noise of
// 2.55 to 17.85 of 255, with the network deblur (docs/notebook/adaptation.md).
func DeblurFactor(mean, energy float64) float64 {
	return limited(0.22 + 0.13*math.Log(min(max(energy, leastEnergy), mostEnergy)) - 0.053*math.Log(mean))
}

// The energies of the shakes; kernels beyond them are taken for the nearest.
const (
	leastEnergy = 0.02
	mostEnergy  = 0.07
)

// limited keeps a factor that is given by its logarithm within its limits, 0.67 and 1.49. Best
// factors of single photographs were 0.6 to 1.5.
func limited(log float64) float64 {
	const most = 0.4
	return math.Exp(min(max(log, -most), most))
}
