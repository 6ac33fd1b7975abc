//go:build !noasm

package instructionset

const amd64, arm64 = false, true
