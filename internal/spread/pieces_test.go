package spread

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
)

// Pieces cover a region once, are cut at the grid, and are no more than was asked for.
func TestPiecesPartitionARegion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y, x := rapid.IntRange(0, 20).Draw(t, "y"), rapid.IntRange(0, 20).Draw(t, "x")
		r := backend.Region{Y0: y, Y1: y + rapid.IntRange(1, 60).Draw(t, "h"), X0: x, X1: x + rapid.IntRange(1, 60).Draw(t, "w")}
		count, grid := rapid.IntRange(1, 9).Draw(t, "count"), rapid.SampledFrom([]int{1, 4, 6}).Draw(t, "grid")
		list := pieces(r, count, grid, area)
		require.LessOrEqual(t, len(list), count)
		seen := map[[2]int]int{}
		for _, p := range list {
			require.True(t, p.Y0 == r.Y0 || p.Y0%grid == 0)
			require.True(t, p.X0 == r.X0 || p.X0%grid == 0)
			for y := p.Y0; y < p.Y1; y++ {
				for x := p.X0; x < p.X1; x++ {
					seen[[2]int{y, x}]++
				}
			}
		}
		for _, times := range seen {
			require.Equal(t, 1, times)
		}
		require.InDelta(t, area(r), len(seen), 0)
	})
}

// A wide reach makes squares of what would be strips.
func TestPiecesKeepTheirReachShort(t *testing.T) {
	s := backend.Image(1, 400, 400)
	list := pieces(s.Whole(), 4, 4, func(r backend.Region) float64 { return area(r.Reach(100, 4, s)) })
	require.Equal(t, []backend.Region{
		{Y0: 0, Y1: 200, X0: 0, X1: 200}, {Y0: 0, Y1: 200, X0: 200, X1: 400},
		{Y0: 200, Y1: 400, X0: 0, X1: 200}, {Y0: 200, Y1: 400, X0: 200, X1: 400},
	}, list)
}
