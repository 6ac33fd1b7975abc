package strength

import "math"

// The rules of α in argmin ½‖x − y‖² + α·TV(x) for photographs y with white noise of standard deviation sigma, one for
// each coupling of the channels. That α/σ grows with σ is because weak noise drowns little of an image, and smoothing
// it away has more to spoil.

// AlphaPerChannel is the α of total variation of every channel by itself.
func AlphaPerChannel(sigma float64) float64 {
	return sigma * (perChannelOffset + opponentSlope*logLevel(sigma))
}

// AlphaCoupled is the α of one norm over all channels.
func AlphaCoupled(sigma float64) float64 {
	return sigma * (coupledOffset + coupledSlope*logLevel(sigma))
}

// AlphaOpponent is the α of the axis of brightness, beside a ChromaWeight of those of colour.
func AlphaOpponent(sigma float64) float64 { return sigma * opponentSlope * logLevel(sigma) }

// logLevel is the logarithm on which α/σ depends linearly.
func logLevel(sigma float64) float64 { return math.Log1p(max(sigma, 0) / alphaKnee) }

// ChromaWeight returns the factor on AlphaOpponent that is best on average along the axes of
// colour: α/σ is larger there than along brightness by the same amount at all noise levels. It
// is from 1.7 to 2.7 for sigma from 0.3 to 0.02.
func ChromaWeight(sigma float64) float64 {
	return 1 + chromaOffset/(opponentSlope*logLevel(max(sigma, endOfChroma)))
}

// MatchingChromaWeight returns the ChromaWeight of the noise level whose AlphaOpponent is alpha.
func MatchingChromaWeight(alpha float64) float64 {
	lo, hi := endOfChroma, max(1, 10*alpha)
	for range 60 {
		if mid := math.Sqrt(lo * hi); AlphaOpponent(mid) < alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
	return ChromaWeight(lo)
}

// DenoiseFactor returns the factor on the noise level of a network that follows the detail of an
// image of so many channels: with noise of standard deviation sigma in each, through a network
// that meets it as noise of level (AlongBrightness), and a share of samples that are black or
// white, where noise is cut off.
func DenoiseFactor(g Gradients, sigma, level float64, channels int, saturated float64) float64 {
	// A gradient of noise of variance v has components of variance 2v, and its length Rayleigh's
	// distribution, whose mean is √(πv).
	noise := math.Pi * sigma * sigma / float64(channels*GradientSide*GradientSide)
	mean := math.Sqrt(max(g.Mean*g.Mean-noise, minGradient*noise))
	return limited(-0.60 - 0.206*math.Log(level) - 0.123*math.Log(mean/level) - 0.273*math.Log(g.Median/level) - 2*saturated)
}
