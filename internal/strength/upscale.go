package strength

import "math"

// UpscaleLevel returns the noise level that a network is used for, in two runs of gradient steps,
// to enlarge photographs with noise of standard deviation sigma by a factor.
func UpscaleLevel(sigma float64, factor int) float64 {
	return math.Hypot(upscaleLevel, upscaleSlope*float64(factor)*sigma)
}

// GuidedUpscaleLevel is UpscaleLevel for a network with a guide.
func GuidedUpscaleLevel(sigma float64, factor int) float64 {
	return math.Hypot(guidedUpscaleLevel, guidedUpscaleSlope*float64(factor)*sigma)
}

// UpscaleWeight returns the weight of total variation for the same.
func UpscaleWeight(sigma float64, factor, channels int) float64 {
	q := float64(factor)
	return forChannels(channels, sigma, func(sigma float64) float64 { return 0.0003 + 0.16/q*sigma })
}

// CodingLevel returns the noise level to enlarge a photograph for that has no other noise than its coding's, of standard
// deviation noise.
func CodingLevel(noise float64) float64 { return codingSlope * noise }
