package strength

import "math"

// The rules for a linear operator of which no more is known than a bound of its norm. They are not
// fitted but follow from those that are: Kx = y + noise is the same problem as cKx = cy + c·noise, so
// a level may depend on σ/‖K‖ alone, and a weight is ‖K‖² times what depends on that. InpaintLevel,
// of a projection, and UpscaleLevel, of operators with ‖K‖ = 1/factor, are 1.5 and 1.4 times σ/‖K‖
// where there is noise, and their weights 0.15 and 0.16 times ‖K‖·σ; without noise they lie between
// 0.01 and 0.045, and 0.0012·‖K‖² and 0.005·‖K‖².

// SolveLevel returns the noise level that a network is used for, in two runs of gradient steps, to
// find an image from measurements with noise of standard deviation sigma by an operator of a norm
// above 0.
func SolveLevel(sigma, norm float64) float64 { return math.Hypot(0.02, 1.45*sigma/norm) }

// SolveWeight returns the weight of total variation for the same.
func SolveWeight(sigma, norm float64, channels int) float64 {
	return forChannels(channels, sigma, func(sigma float64) float64 { return 0.0025*norm*norm + 0.155*norm*sigma })
}
