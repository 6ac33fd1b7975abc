package restore

import "math"

// inpaintingStrength returns the strength of the prior for photographs with missing pixels
// and noise of standard deviation sigma in the known ones. It is tuned on photographs with
// half and four fifths of the pixels missing at random, and with strokes as of writing,
// without noise and with 0.05 (RATIONALE.md); the level of a network for its two runs.
func inpaintingStrength(sigma float64, channels int) priorStrength {
	return priorStrength{
		level:  func(sigma float64) float64 { return math.Hypot(0.045, 1.5*sigma) },
		weight: forChannels(channels, sigma, func(sigma float64) float64 { return 0.003 + 0.15*sigma }),
		chroma: deblurChroma,
	}
}

// upscalingStrength returns the same for photographs that were scaled down by a factor. It is
// tuned on photographs scaled down by 2, 3 and 4 with bicubic and Gaussian kernels, without noise
// and with 0.005 to 0.1.
func upscalingStrength(sigma float64, factor, channels int) priorStrength {
	q := float64(factor)
	return priorStrength{
		level:  func(sigma float64) float64 { return math.Hypot(0.01, 1.4*q*sigma) },
		weight: forChannels(channels, sigma, func(sigma float64) float64 { return 0.0003 + 0.16/q*sigma }),
		chroma: deblurChroma,
	}
}

// forChannels applies a rule for the weight of total variation of three channels. The luma axis
// of three equal channels is √3 times one of them, and so is its noise: total variation of both
// is the same problem at another scale.
func forChannels(channels int, sigma float64, rule func(sigma float64) float64) float64 {
	if channels == 1 {
		return rule(math.Sqrt(3)*sigma) / math.Sqrt(3)
	}
	return rule(sigma)
}
