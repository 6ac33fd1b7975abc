package strength

import "math"

// AnnealedSteps is how many steps deblurring by a network with a guide makes before its run. Each has radii of
// its own, for what the network sees in it, and is for less noise than the one before, and for more than the
// run. Four to six are within 0.01 dB of each other; with four, thin edges at a frame lost a decibel.
const AnnealedSteps = 5

// The first step is for noise of annealedFrom, but for at least annealedLeast and at most annealedMost
// times the level of the run.
const (
	annealedFrom  = 49.0 / 255
	annealedLeast = 1.5
	annealedMost  = 6.0
)

// Annealed returns the factor on the run's level, above 0, that annealed step i of AnnealedSteps is for, from 0
// on: it falls geometrically, to be 1 for the run, which is step AnnealedSteps. The proximal step is longer by
// the factor's square, for half-quadratic splitting has one level for both (PriorLevel).
func Annealed(level float64, i int) float64 {
	first := min(max(annealedFrom/level, annealedLeast), annealedMost)
	return math.Pow(first, 1-float64(i)/AnnealedSteps)
}
