package symmetry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSymmetries: the eight are different, and are the group of a square: each is undone
// by one of them.
func TestSymmetries(t *testing.T) {
	const size = 3
	src := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	seen := map[[9]float32]bool{}
	for s := range Symmetry(Number) {
		var turned [9]float32
		Apply(s, turned[:], src, size)
		require.False(t, seen[turned])
		seen[turned] = true
		undone := false
		for back := range Symmetry(Number) {
			var again [9]float32
			Apply(back, again[:], turned[:], size)
			undone = undone || again == [9]float32(src)
		}
		require.True(t, undone, "symmetry %d", s)
	}
	require.True(t, seen[[9]float32{3, 6, 9, 2, 5, 8, 1, 4, 7}], "a quarter turn")
	require.True(t, seen[[9]float32{3, 2, 1, 6, 5, 4, 9, 8, 7}], "a flip")
}
