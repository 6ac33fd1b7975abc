// Package devicetest has what tests of operators need of a device: numbers to try them on, and the
// numbers that come out.
package devicetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// Noise returns a buffer of channels of normal random numbers, and them.
func Noise(t testing.TB, dev backend.Device, channels, h, w int, seed uint64) (backend.Buffer, []float32) {
	b, err := dev.Alloc(backend.Image(channels, h, w))
	require.NoError(t, err)
	require.NoError(t, dev.Gaussian(b, seed, 0, 1))
	return b, Download(t, dev, b)
}

// Download returns the numbers of a buffer.
func Download(t require.TestingT, dev backend.Device, b backend.Buffer) []float32 {
	x := make([]float32, b.Shape().Len())
	require.NoError(t, dev.Download(x, b))
	return x
}

// Dot is the inner product in float64.
func Dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Norm returns what power iteration of so many steps finds of the norm.
func Norm(t testing.TB, dev backend.Device, k operator.Linear, steps int) float64 {
	estimate, err := operator.EstimateNorm(t.Context(), dev, k, steps, 5)
	require.NoError(t, err)
	return estimate
}
