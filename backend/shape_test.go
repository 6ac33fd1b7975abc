package backend_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
)

func TestRegionCheck(t *testing.T) {
	s := backend.Image(3, 5, 7)
	require.Equal(t, backend.Region{Y0: 0, Y1: 5, X0: 0, X1: 7}, s.Whole())
	require.NoError(t, s.Whole().Check(s))
	require.NoError(t, backend.Region{Y0: 4, Y1: 5, X0: 6, X1: 7}.Check(s))
	for _, r := range []backend.Region{
		{}, {Y0: 2, Y1: 2, X1: 7}, {Y0: 3, Y1: 2, X1: 7}, {Y1: 5, X0: 7, X1: 7},
		{Y0: -1, Y1: 5, X1: 7}, {Y1: 5, X0: -1, X1: 7}, {Y1: 6, X1: 7}, {Y1: 5, X1: 8},
	} {
		require.ErrorIs(t, r.Check(s), backend.ErrShape, "%v", r)
	}
}

func TestReachByHand(t *testing.T) {
	s := backend.Image(1, 40, 50)
	r := backend.Region{Y0: 13, Y1: 14, X0: 2, X1: 30}
	require.Equal(t, backend.Region{Y0: 12, Y1: 15, X0: 1, X1: 31}, r.Reach(1, 1, s))
	require.Equal(t, backend.Region{Y0: 11, Y1: 19, X0: 0, X1: 31}, r.Reach(1, 6, s))
	require.Equal(t, s.Whole(), backend.Region{Y0: 5, Y1: 37, X0: 5, X1: 47}.Reach(2, 6, s))
}

// What a tile of the grid needs, the region needs of which the tile is part; and a
// direct convolution needs no more than its radius.
func TestReachHoldsThatOfEveryPixel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := backend.Image(1, rapid.IntRange(1, 40).Draw(t, "h"), rapid.IntRange(1, 40).Draw(t, "w"))
		y0, x0 := rapid.IntRange(0, s.H-1).Draw(t, "y0"), rapid.IntRange(0, s.W-1).Draw(t, "x0")
		r := backend.Region{Y0: y0, Y1: rapid.IntRange(y0+1, s.H).Draw(t, "y1"), X0: x0, X1: rapid.IntRange(x0+1, s.W).Draw(t, "x1")}
		radius, grid := rapid.IntRange(0, 3).Draw(t, "radius"), rapid.IntRange(1, 7).Draw(t, "grid")
		all := r.Reach(radius, grid, s)
		require.NoError(t, all.Check(s))
		y, x := rapid.IntRange(r.Y0, r.Y1-1).Draw(t, "y"), rapid.IntRange(r.X0, r.X1-1).Draw(t, "x")
		one := backend.Region{Y0: y, Y1: y + 1, X0: x, X1: x + 1}.Reach(radius, grid, s)
		require.True(t, all.Y0 <= one.Y0 && one.Y1 <= all.Y1 && all.X0 <= one.X0 && one.X1 <= all.X1, "%v in %v", one, all)
		direct := r.Reach(radius, 1, s)
		require.Equal(t, max(0, r.Y0-radius), direct.Y0)
		require.Equal(t, min(s.W, r.X1+radius), direct.X1)
	})
}
