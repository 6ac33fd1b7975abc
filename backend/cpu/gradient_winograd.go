package cpu

import (
	"sync"

	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// A filter's gradient by Winograd's algorithm: for every pair of points a product of
// the transformed patches of x, (in × tiles), with the transformed tiles of dy, (tiles
// × out), which is added to one array per pair. gradientTiles tiles are multiplied at
// a time, so that this array (1 MB in all for 64 channels) passes by seldom enough:
// their transforms take 1 MB for 64 channels.
const gradientTiles = 36

// The tiles of a batch are summed up in parts, each with arrays of its own: at most
// gradientParts, of at least partTiles tiles. Neither depends on the threads, so that
// the bits do not.
const (
	gradientParts = 8
	partTiles     = 3 * gradientTiles
)

// partsOf returns how many parts there are of so many tiles in so many pieces: a power of
// two, which two or four threads divide evenly.
func partsOf(tiles, pieces int) int {
	parts := 1
	for 2*parts <= min(gradientParts, pieces, tiles/partTiles) {
		parts *= 2
	}
	return parts
}

// gradientSums keeps the arrays of parts.
var gradientSums sync.Pool

// gradientGroup is the memory of one group of tiles.
type gradientGroup struct {
	tiles   int  // that are in v and p
	added   bool // whether the sums have any tiles
	v, p    []float32
	x, dy   []float32
	scratch winograd.Scratch
}

var gradientGroups = sync.Pool{New: func() any { return new(gradientGroup) }}

// filterGradient3 does what filterGradient does, for 3×3 filters.
func (d *host) filterGradient3(dw, x, dy *buffer, beta, scale float32) {
	s := x.Shape
	down, across := tilesOf(0, s.H).to, tilesOf(0, s.W).to
	groups := planarGroupsOf(across)
	count := s.N * down * groups
	parts := make([][]float32, partsOf(s.N*down*across, count))
	c := filterCorrelation{
		kernels: d.kernels.winograd, x: x, dy: dy,
		in: dw.Shape.C, vTile: winograd.Padded(dw.Shape.C), pTile: winograd.Padded(dw.Shape.N),
	}
	d.pool.For(len(parts), func(part int) {
		kept, _ := gradientSums.Get().(*[]float32)
		if kept == nil {
			kept = new([]float32)
		}
		sum := sized(*kept, winograd.FilterSize(dw.Shape.C, dw.Shape.N))
		g := gradientGroups.Get().(*gradientGroup)
		g.tiles, g.added = 0, false
		for i := part * count / len(parts); i < (part+1)*count/len(parts); i++ {
			k := i % groups
			from, to := k*across/groups, (k+1)*across/groups
			if g.tiles+to-from > gradientTiles {
				c.add(g, sum)
			}
			c.take(g, i/groups/down, i/groups%down, from, to)
		}
		c.add(g, sum)
		gradientGroups.Put(g)
		parts[part] = sum
	})
	d.eachInput(c.in, func(k *winograd.Kernels, i int, memory *winograd.FilterScratch) {
		k.FilterGradient(dw.Data, parts, dw.Shape.N, c.in, i, beta, scale, memory)
	})
	for _, sum := range parts {
		gradientSums.Put(&sum)
	}
}

// filterCorrelation is a filter's gradient under way.
type filterCorrelation struct {
	kernels          *winograd.Kernels
	x, dy            *buffer
	in, vTile, pTile int // channels of x, and of x and dy with padding
}

// take transforms tiles [from, to) of a tile row of image n.
func (c *filterCorrelation) take(g *gradientGroup, n, tileRow, from, to int) {
	tiles := to - from
	x0, y0 := from*winograd.Tile, tileRow*winograd.Tile
	wide, width := tiles*winograd.Tile+2, tiles*winograd.Tile
	g.x = packed(c.kernels, g.x, windowOf(c.x, n, c.x.Shape.Whole()), y0-1, winograd.Patch, x0-1, wide)
	g.dy = packed(c.kernels, g.dy, windowOf(c.dy, n, c.dy.Shape.Whole()), y0, winograd.Tile, x0, width)
	var rows [winograd.Patch][]float32
	for r := range rows {
		rows[r] = g.x[r*wide*c.vTile:][:wide*c.vTile]
	}
	vPoint, pPoint := gradientTiles*c.vTile+slack, gradientTiles*c.pTile+slack
	g.v, g.p = sized(g.v, winograd.Points*vPoint), sized(g.p, winograd.Points*pPoint)
	for t := range tiles {
		at := t * winograd.Tile
		c.kernels.Input(g.v[(g.tiles+t)*c.vTile:], vPoint, &rows, at*c.vTile, c.vTile, c.vTile, &g.scratch)
		c.kernels.Spread(g.p[(g.tiles+t)*c.pTile:], pPoint, g.dy[at*c.pTile:], width*c.pTile, c.pTile, c.pTile, &g.scratch)
	}
	g.tiles += tiles
}

// add multiplies what was taken and adds it to sum, or sets sum to it at first.
func (c *filterCorrelation) add(g *gradientGroup, sum []float32) {
	vPoint, pPoint := gradientTiles*c.vTile+slack, gradientTiles*c.pTile+slack
	sumPoint := winograd.FilterPoint(c.in, c.pTile)
	for k := range winograd.Points {
		c.kernels.Correlate(sum[k*sumPoint:], c.pTile, g.v[k*vPoint:], c.vTile, g.p[k*pPoint:], c.pTile, g.tiles, c.in, c.pTile, g.added)
	}
	g.tiles, g.added = 0, true
}
