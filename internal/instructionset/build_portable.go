//go:build noasm || (!amd64 && !arm64)

package instructionset

const amd64, arm64 = false, false
