package strength

import "math"

// SolveLevel returns the noise level that a network is used for, in two runs of gradient steps, to
// find an image from measurements with noise of standard deviation sigma by an operator of a norm
// above 0.
func SolveLevel(sigma, norm float64) float64 { return math.Hypot(solveLevel, solveSlope*sigma/norm) }

// GuidedSolveLevel is SolveLevel for a network with a guide.
func GuidedSolveLevel(sigma, norm float64) float64 {
	return math.Hypot(guidedSolveLevel, guidedSolveSlope*sigma/norm)
}

// SolveWeight returns the weight of total variation for the same.
func SolveWeight(sigma, norm float64, channels int) float64 {
	return forChannels(channels, sigma, func(sigma float64) float64 { return 0.0025*norm*norm + 0.155*norm*sigma })
}
