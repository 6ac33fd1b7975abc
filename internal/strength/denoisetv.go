package strength

import "math"

// The rules of α in argmin ½‖x − y‖² + α·TV(x) for photographs y with white noise of standard
// deviation sigma, one for each coupling of the channels. They are fitted to the optima at seven
// noise levels, and within 0.03 dB of the mean PSNR of the best α at every sigma from 0.02 to
// 0.3; outside of these they go on smoothly, to 0 at 0. That α/σ grows with σ at all is because
// weak noise drowns little of an image, and smoothing it away has more to spoil.

// AlphaPerChannel is the α of total variation of every channel by itself.
func AlphaPerChannel(sigma float64) float64 { return sigma * (0.092 + slope*logLevel(sigma)) }

// AlphaCoupled is the α of one norm over all channels.
func AlphaCoupled(sigma float64) float64 { return sigma * (0.344 + 0.245*logLevel(sigma)) }

// AlphaOpponent is the α of the axis of brightness, beside a ChromaWeight of those of colour.
func AlphaOpponent(sigma float64) float64 { return sigma * slope * logLevel(sigma) }

// slope is that of α/σ on the logarithm of the noise level.
const slope = 0.2034

// logLevel is the logarithm on which α/σ depends linearly.
func logLevel(sigma float64) float64 { return math.Log1p(max(sigma, 0) / 0.0036) }

// ChromaWeight returns the factor on AlphaOpponent that is best on average along the axes of
// colour: α/σ is larger there than along brightness by the same amount at all noise levels. It
// is from 1.7 to 2.7 for sigma from 0.3 to 0.02.
func ChromaWeight(sigma float64) float64 {
	return 1 + 0.63/(slope*logLevel(max(sigma, endOfChroma)))
}

// endOfChroma is the noise level, far below that of any photograph, where the chroma weight,
// which has a pole at 0, stops growing.
const endOfChroma = 1e-4

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
