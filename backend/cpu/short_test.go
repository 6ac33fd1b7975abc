package cpu

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// allInShort is whether a run with -short is the only one there is: tests for arm64 run under
// emulation, with -short alone.
const allInShort = runtime.GOARCH == "arm64"

// SetsUnderTest are the instruction sets for a test that goes through them. With -short, which is for
// the race detector and for IMAGING_CPU, it is the one in use: go test ./... has gone through all.
func SetsUnderTest(t testing.TB) []InstructionSet {
	if !testing.Short() || allInShort {
		return InstructionSets()
	}
	set, err := Selected()
	require.NoError(t, err)
	return []InstructionSet{set}
}

// leaveKernels skips a comparison of kernels, of whatever instruction set, with plain loops. It has one
// goroutine, so that the race detector has nothing to find in it, and does not depend on
// IMAGING_CPU.
func leaveKernels(t testing.TB) {
	t.Helper()
	if testing.Short() && !allInShort {
		t.Skip("the kernels of all instruction sets, in one goroutine, whatever IMAGING_CPU says: go test ./... compares them")
	}
}
