package strength

import "math"

// UpscaleLevel returns the noise level that a network is used for, in two runs of gradient steps,
// to enlarge photographs with noise of standard deviation sigma by a factor. It is tuned on
// photographs scaled down by 2, 3 and 4 with bicubic and Gaussian kernels, without noise and with
// 0.005 to 0.1.
func UpscaleLevel(sigma float64, factor int) float64 {
	return math.Hypot(0.01, 1.4*float64(factor)*sigma)
}

// UpscaleWeight returns the weight of total variation for the same.
func UpscaleWeight(sigma float64, factor, channels int) float64 {
	q := float64(factor)
	return forChannels(channels, sigma, func(sigma float64) float64 { return 0.0003 + 0.16/q*sigma })
}
