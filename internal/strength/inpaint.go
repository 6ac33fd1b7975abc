package strength

import "math"

// InpaintLevel returns the noise level that a network is used for, in two runs of gradient steps,
// to fill missing pixels of photographs with noise of standard deviation sigma in the others. It
// is tuned on photographs with half and four fifths of the pixels missing at random, and with
// strokes as of writing, without noise and with 0.05.
func InpaintLevel(sigma float64) float64 { return math.Hypot(0.045, 1.5*sigma) }

// InpaintWeight returns the weight of total variation for the same.
func InpaintWeight(sigma float64, channels int) float64 {
	return forChannels(channels, sigma, func(sigma float64) float64 { return 0.003 + 0.15*sigma })
}
