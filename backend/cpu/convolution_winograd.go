package cpu

import (
	"sync"

	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// planarTiles is how many tiles of one tile row are computed together from planes:
// their pixels, packed (200 KB for 64 channels), their transforms (270 KB) and their
// outputs stay in the L2 cache, and their rows of 96 pixels are whole vectors.
const planarTiles = 16

// planarGroup is the memory of one group of tiles from planes.
type planarGroup struct {
	tileGroup
	in, out []float32
}

var planarGroups = sync.Pool{New: func() any { return new(planarGroup) }}

// sized returns a slice of n floats in the place of s, with any contents.
func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// convolve3 does what convolve does, for a 3×3 filter by Winograd's algorithm.
func (d *Device) convolve3(dst, src *buffer, b *bank, e ending) {
	down, across := tilesOf(0, dst.shape.H).to, tilesOf(0, dst.shape.W).to
	// Groups of the same size as far as that goes, each in one tile row.
	groups := (across + planarTiles - 1) / planarTiles
	c := planarConvolution{kernels: winogradKernels(d.level), dst: dst, src: src, bank: b, end: e}
	c.bias = make([]float32, b.padded())
	copy(c.bias, e.bias)
	d.pool.For(src.shape.N*down*groups, func(i int) {
		g := planarGroups.Get().(*planarGroup)
		k := i % groups
		from, to := k*planarTiles, min((k+1)*planarTiles, across)
		c.group(g, i/groups/down, i/groups%down, from, to)
		planarGroups.Put(g)
	})
}

// planarConvolution is a convolution under way.
type planarConvolution struct {
	kernels  *winograd.Kernels
	dst, src *buffer
	bank     *bank
	end      ending
	bias     []float32 // with padding
}

// group computes tiles [from, to) of a tile row.
func (c *planarConvolution) group(g *planarGroup, n, tileRow, from, to int) {
	s, tiles := c.src.shape, to-from
	in, out := winograd.Padded(c.bank.in), c.bank.padded()
	x0, y0 := from*winograd.Tile, tileRow*winograd.Tile
	width := tiles*winograd.Tile + 2 // one pixel more on either side

	g.in = sized(g.in, winograd.Patch*width*in)
	var rows [winograd.Patch][]float32
	left, right := max(0, x0-1), min(s.W, x0-1+width)
	for r := range rows {
		row := g.in[r*width*in:][:width*in]
		rows[r] = row
		y := y0 + r - 1
		if y < 0 || y >= s.H {
			clear(row)
			continue
		}
		if in > s.C || right-left < width {
			clear(row)
		}
		at := (n*s.C*s.H+y)*s.W + left
		c.kernels.Pack(row[(left-x0+1)*in:], in, c.src.data[at:], s.Plane(), right-left, s.C)
	}
	m, point := g.multiplied(c.kernels, c.bank, c.bank.in, c.bank.out, tiles, func(t int, v []float32, point int) {
		c.kernels.Input(v, point, &rows, t*winograd.Tile*in, in, in, &g.scratch)
	})

	pitch := tiles * winograd.Tile * out
	g.out = sized(g.out, winograd.Tile*pitch)
	visible := min(winograd.Tile, s.H-y0)
	for t := range tiles {
		to := g.out[t*winograd.Tile*out:]
		if c.end.scale == 1 {
			slope := float32(1)
			if c.end.rectify {
				slope = c.end.slope
			}
			c.kernels.Activate(to, pitch, out, m[t*out:], point, c.bias, slope, visible, out, &g.scratch)
		} else { // an adjoint, which has neither bias nor activation
			c.kernels.Update(to, pitch, out, c.bias, 0, 0, m[t*out:], point, c.end.scale, visible, out, &g.scratch)
		}
	}
	d := c.dst.shape
	for r := range visible {
		at := (n*d.C*d.H+y0+r)*d.W + x0
		c.kernels.Unpack(c.dst.data[at:], d.Plane(), g.out[r*pitch:], out, min(tiles*winograd.Tile, d.W-x0), d.C, c.end.beta)
	}
}
