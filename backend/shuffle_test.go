package backend

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnshuffledShapes(t *testing.T) {
	for _, c := range []struct {
		fine, coarse Shape
		factor       int
	}{
		{Image(3, 5, 8), Image(3, 5, 8), 1},
		{Image(3, 5, 8), Image(12, 3, 4), 2},
		{Shape{N: 2, C: 1, H: 6, W: 7}, Shape{N: 2, C: 9, H: 2, W: 3}, 3},
		{Image(1, 2, 3), Image(100, 1, 1), 10},
	} {
		require.Equal(t, c.coarse, c.fine.Unshuffled(c.factor))
	}
	// What does not fit an int is no shape, and no other one's by wrapping around.
	for _, factor := range []int{math.MaxInt, 1 << (bits.UintSize / 2), math.MaxInt32} {
		require.ErrorIs(t, Image(5, 1, 1).Unshuffled(factor).Check(), ErrShape, factor)
	}
}
