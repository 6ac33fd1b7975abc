//go:build noasm || !(amd64 || arm64)

package convrow

// Assembly tells whether this build has the kernels in assembly.
const Assembly = false

var avx2, avx512, neon Kernels
