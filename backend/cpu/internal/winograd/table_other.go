//go:build noasm || !(amd64 || arm64)

package winograd

// AVX2, AVX512 and NEON return the portable loops where there is no assembly.
func AVX2() *Kernels   { return &portable }
func AVX512() *Kernels { return &portable }
func NEON() *Kernels   { return &portable }
