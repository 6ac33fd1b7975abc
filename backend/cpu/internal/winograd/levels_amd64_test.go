//go:build !noasm

package winograd

import features "golang.org/x/sys/cpu"

func levels() []level {
	all := []level{{"portable", Portable()}}
	if features.X86.HasAVX2 && features.X86.HasFMA {
		all = append(all, level{"avx2", AVX2()})
	}
	if features.X86.HasAVX512F && features.X86.HasAVX512DQ && features.X86.HasAVX512VL {
		all = append(all, level{"avx512", AVX512()})
	}
	return all
}
