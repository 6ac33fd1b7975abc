package tv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A gap that no longer falls is at float32's limit only if it is small: those of a warm start hardly fall at first.
func TestPlateau(t *testing.T) {
	for gap, floor := range map[float64]bool{5.7e-6: false, 2e-7: true, 2e-8: true} {
		var p plateau
		require.False(t, p.reached(0, 1.1*gap, 1))
		require.False(t, p.reached(9, gap, 1))
		require.Equal(t, floor, p.reached(14, .98*gap, 1), gap)
	}
	var p plateau
	require.False(t, p.reached(9, 4e-7, 1))
	require.False(t, p.reached(14, 1e-7, 1), "it falls")
}
