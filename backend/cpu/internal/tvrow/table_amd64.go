//go:build !noasm

package tvrow

func init() { AVX2, AVX512 = &avx2, &avx512 }

var avx2 = Kernels{
	primal:   primalAVX2,
	dual:     [MaxFused]dualKernel{dual1AVX2, dual2AVX2, dual3AVX2},
	sweep:    [MaxFused]sweepKernel{sweep1AVX2, sweep2AVX2, sweep3AVX2},
	evaluate: [MaxFused]evaluateKernel{evaluate1AVX2, evaluate2AVX2, evaluate3AVX2},
}

var avx512 = Kernels{
	primal:   primalAVX512,
	dual:     [MaxFused]dualKernel{dual1AVX512, dual2AVX512, dual3AVX512},
	sweep:    [MaxFused]sweepKernel{sweep1AVX512, sweep2AVX512, sweep3AVX512},
	evaluate: [MaxFused]evaluateKernel{evaluate1AVX512, evaluate2AVX512, evaluate3AVX512},
}
