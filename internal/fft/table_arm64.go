//go:build !noasm

package fft

func init() { NEON = &neon }

var neon = Kernels{
	forward:  [...]func(*record, int, int, *float32){2: forward2NEON, 3: forward3NEON, 4: forward4NEON, 5: forward5NEON},
	inverse:  [...]func(*record, int, int, *float32){2: inverse2NEON, 3: inverse3NEON, 4: inverse4NEON, 5: inverse5NEON},
	multiply: multiplyNEON, multiplyConjugate: multiplyConjugateNEON,
	interleave: interleaveNEON, deinterleave: deinterleaveNEON, separate: separateNEON, combine: combineNEON,
}
