//go:build !cuda

package cuda

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/stretchr/testify/require"
)

// A program without CUDA says so, and nothing else happens.
func TestWithoutCUDA(t *testing.T) {
	_, err := Open(0)
	require.ErrorContains(t, err, "cuda:0: no CUDA driver")
	_, err = Devices()
	require.ErrorContains(t, err, "no CUDA driver")
	_, err = Open(0, MemoryLimit(-1))
	require.ErrorIs(t, err, backend.ErrArgument)
	_, err = Open(0, UsePrecision(Half+1))
	require.ErrorIs(t, err, backend.ErrArgument)
}
