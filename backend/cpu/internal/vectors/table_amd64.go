//go:build !noasm

package vectors

func init() { AVX2, AVX512 = &avx2, &avx512 }

var avx2 = Kernels{
	fill:                 fillAVX2,
	combine:              [MaxTerms]combineKernel{combine1AVX2, combine2AVX2, combine3AVX2, combine4AVX2},
	mix:                  [MaxTerms]mixKernel{mix1AVX2, mix2AVX2, mix3AVX2, mix4AVX2},
	clip:                 clipAVX2,
	activationGradient:   activationGradientAVX2,
	sum:                  sumAVX2,
	squares:              squaresAVX2,
	dot:                  dotAVX2,
	distance:             distanceAVX2,
	projectBalls:         projectBallsAVX2,
	projectBallsGradient: projectBallsGradientAVX2,

	projectBallsMap:         projectBallsMapAVX2,
	projectBallsMapGradient: projectBallsMapGradientAVX2,
}

var avx512 = Kernels{
	fill:                 fillAVX512,
	combine:              [MaxTerms]combineKernel{combine1AVX512, combine2AVX512, combine3AVX512, combine4AVX512},
	mix:                  [MaxTerms]mixKernel{mix1AVX512, mix2AVX512, mix3AVX512, mix4AVX512},
	clip:                 clipAVX512,
	activationGradient:   activationGradientAVX512,
	sum:                  sumAVX512,
	squares:              squaresAVX512,
	dot:                  dotAVX512,
	distance:             distanceAVX512,
	projectBalls:         projectBallsAVX512,
	projectBallsGradient: projectBallsGradientAVX512,

	projectBallsMap:         projectBallsMapAVX512,
	projectBallsMapGradient: projectBallsMapGradientAVX512,
}
