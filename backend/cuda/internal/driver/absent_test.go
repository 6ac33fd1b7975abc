//go:build !(cuda && cgo && linux && (amd64 || arm64))

package driver

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutTheTagThereIsNoDriver(t *testing.T) {
	_, err := List()
	require.ErrorIs(t, err, ErrNoDriver)
	_, err = Open(0)
	require.ErrorIs(t, err, ErrNoDriver)
	require.ErrorContains(t, err, "-tags cuda")
}

// The functions that are looked up in the driver library are those that our cuda.h
// declares, under the names that it gives them.
func TestEveryFunctionOfTheHeaderIsLookedUp(t *testing.T) {
	header, err := os.ReadFile("../cudaheader/cuda.h")
	require.NoError(t, err)
	list, err := os.ReadFile("names_linux.h")
	require.NoError(t, err)
	exported := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#define (cu\w+) (cu\w+)$`).FindAllSubmatch(header, -1) {
		exported[string(m[1])] = string(m[2])
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^CUresult (cu\w+)\(`).FindAllSubmatch(header, -1) {
		name := string(m[1])
		if e, ok := exported[name]; ok {
			name = e
			delete(exported, string(m[1]))
		}
		if name != "cuInit" { // which stubs_linux.c has itself
			want = append(want, name)
		}
	}
	require.Empty(t, exported, "names that no function has")
	for _, m := range regexp.MustCompile(`(?m)^NAME\((cu\w+)\)$`).FindAllSubmatch(list, -1) {
		got = append(got, string(m[1]))
	}
	// Names of CUDA 12's own header, with which cu may be compiled as well.
	want = append(want, "cuGraphAddKernelNode_v2", "cuEventElapsedTime_v2", "cuDeviceGetUuid_v2",
		"cuStreamWaitValue32_v2", "cuStreamWriteValue32_v2")
	require.Greater(t, len(want), 150)
	require.Equal(t, want, got)
}
