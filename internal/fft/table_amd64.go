//go:build !noasm

package fft

func init() { AVX2, AVX512 = &avx2, &avx512 }

var avx2 = Kernels{
	forward:  [...]func(*record, int, int, *float32){2: forward2AVX2, 3: forward3AVX2, 4: forward4AVX2, 5: forward5AVX2},
	inverse:  [...]func(*record, int, int, *float32){2: inverse2AVX2, 3: inverse3AVX2, 4: inverse4AVX2, 5: inverse5AVX2},
	multiply: multiplyAVX2, multiplyConjugate: multiplyConjugateAVX2,
	interleave: interleaveAVX2, deinterleave: deinterleaveAVX2, separate: separateAVX2, combine: combineAVX2,
}

var avx512 = Kernels{
	forward:  [...]func(*record, int, int, *float32){2: forward2AVX512, 3: forward3AVX512, 4: forward4AVX512, 5: forward5AVX512},
	inverse:  [...]func(*record, int, int, *float32){2: inverse2AVX512, 3: inverse3AVX512, 4: inverse4AVX512, 5: inverse5AVX512},
	multiply: multiplyAVX512, multiplyConjugate: multiplyConjugateAVX512,
	interleave: interleaveAVX512, deinterleave: deinterleaveAVX512, separate: separateAVX512, combine: combineAVX512,
}
