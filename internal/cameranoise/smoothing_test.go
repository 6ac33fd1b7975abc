package cameranoise

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Gaussian that is narrow beside a pixel smooths nothing, however narrow it is.
func TestNarrowSmoothing(t *testing.T) {
	plane := []float32{0.1, 0.9, 0.3, 0.5, 0.2, 0.7}
	for _, std := range []float64{0, 5e-324, 1e-300, 1e-162, 1e-155, 1e-20, 0.05} {
		smoothed := slices.Clone(plane)
		smooth(smoothed, make([]float32, len(plane)), 2, 3, std)
		require.Equal(t, plane, smoothed, "%g", std)
	}
}
