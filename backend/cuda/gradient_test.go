//go:build cuda

package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Ranges of a gradient cover everything once, none is too long, and they take no more waves of blocks
// than the longest ones would.
func TestRangesFillWaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<22).Draw(t, "n")
		longest := rapid.IntRange(1, 4096).Draw(t, "longest")
		shortest := rapid.IntRange(1, longest).Draw(t, "shortest")
		places := rapid.IntRange(2, 300).Draw(t, "places")
		blocks := rapid.IntRange(1, places).Draw(t, "blocks")
		splits, length := ranges(n, longest, shortest, blocks, places)
		require.GreaterOrEqual(t, splits*length, n)
		require.Less(t, (splits-1)*length, n, "none is empty")
		require.LessOrEqual(t, length, longest)
		require.LessOrEqual(t, ceil(splits*blocks, places), ceil(ceil(n, longest)*blocks, places))
	})
	// Five photographs of 481×321 in tiles of 64 pixels, two blocks to a range, on an H100's 264 places: two
	// full waves, where ranges of 64 tiles would be one and a half.
	splits, length := ranges(5*61*41, 64, 4, 2, 264)
	require.Equal(t, []int{261, 48}, []int{splits, length})
}
