package driver

import "slices"

// The codes of the driver API that this package tells apart (CUresult).
const (
	codeOutOfMemory   = 2
	codeNoDevice      = 100
	codeInvalidDevice = 101
	codePTXTooNew     = 222
	codeNotReady      = 600
)

// broken reports whether a code means that the context can do no more work. These are the
// errors of which the driver's reference says that the process must be ended, which
// closing the primary context comes close to.
func broken(code int) bool {
	return slices.Contains([]int{
		46,  // device unavailable
		214, // memory error that could not be corrected
		220, // error on NVLink
		700, // illegal address
		702, // launch timed out
		709, // context is destroyed
		710, // assertion in a kernel
		714, // hardware stack error
		715, // illegal instruction
		716, // misaligned address
		717, // address space of an instruction
		718, // program counter
		719, // launch failed
		721, // external device
	}, code)
}
