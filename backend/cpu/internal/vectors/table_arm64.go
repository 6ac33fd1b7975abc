//go:build !noasm

package vectors

func init() { NEON = &neon }

var neon = Kernels{
	fill:                 fillNEON,
	combine:              [MaxTerms]combineKernel{combine1NEON, combine2NEON, combine3NEON, combine4NEON},
	mix:                  [MaxTerms]mixKernel{mix1NEON, mix2NEON, mix3NEON, mix4NEON},
	clip:                 clipNEON,
	activationGradient:   activationGradientNEON,
	sum:                  sumNEON,
	squares:              squaresNEON,
	dot:                  dotNEON,
	distance:             distanceNEON,
	projectBalls:         projectBallsNEON,
	projectBallsGradient: projectBallsGradientNEON,

	projectBallsMap:         projectBallsMapNEON,
	projectBallsMapGradient: projectBallsMapGradientNEON,
}
