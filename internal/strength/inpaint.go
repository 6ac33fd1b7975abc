package strength

import "math"

// InpaintLevel returns the noise level that a network is used for, in two runs of gradient steps,
// to fill missing pixels of photographs with noise of standard deviation sigma in the others.
func InpaintLevel(sigma float64) float64 { return math.Hypot(inpaintLevel, inpaintSlope*sigma) }

// GuidedInpaintLevel is InpaintLevel for a network with a guide.
func GuidedInpaintLevel(sigma float64) float64 {
	return math.Hypot(guidedInpaintLevel, guidedInpaintSlope*sigma)
}

// InpaintWeight returns the weight of total variation for the same.
func InpaintWeight(sigma float64, channels int) float64 {
	return forChannels(channels, sigma, func(sigma float64) float64 { return 0.003 + 0.15*sigma })
}
