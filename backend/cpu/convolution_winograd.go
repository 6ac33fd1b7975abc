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

// planarGroupsOf returns in how many groups of about planarTiles, and at most group, a
// row of tiles is computed.
func planarGroupsOf(across int) int { return max(1, (across+planarTiles/2)/planarTiles) }

// convolve3 does what convolve does, for a 3×3 filter by Winograd's algorithm.
func (d *Device) convolve3(dst, src *buffer, b *bank, e ending) {
	down, across := tilesOf(0, dst.shape.H).to, tilesOf(0, dst.shape.W).to
	groups := planarGroupsOf(across)
	c := planarConvolution{kernels: d.kernels.winograd, dst: dst, src: src, bank: b, end: e}
	c.bias = make([]float32, b.padded())
	copy(c.bias, e.bias)
	d.pool.For(src.shape.N*down*groups, func(i int) {
		g := planarGroups.Get().(*planarGroup)
		k := i % groups
		c.group(g, i/groups/down, i/groups%down, k*across/groups, (k+1)*across/groups)
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
	tiles := to - from
	in, out := winograd.Padded(c.bank.in), c.bank.padded()
	x0, y0 := from*winograd.Tile, tileRow*winograd.Tile
	width := tiles*winograd.Tile + 2 // one pixel more on either side
	g.in = packed(c.kernels, g.in, c.src, n, y0-1, winograd.Patch, x0-1, width)
	var rows [winograd.Patch][]float32
	for r := range rows {
		rows[r] = g.in[r*width*in:][:width*in]
	}
	m, point := g.multiplied(c.kernels, c.bank, c.bank.in, c.bank.out, tiles, func(t int, v []float32, point int) {
		c.kernels.Input(v, point, &rows, t*winograd.Tile*in, in, in, &g.scratch)
	}, nil)

	pitch := tiles * winograd.Tile * out
	g.out = sized(g.out, winograd.Tile*pitch)
	visible := min(winograd.Tile, c.dst.shape.H-y0)
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

// packed returns rows [y, y+rows) and columns [x, x+columns) of image n of src as rows of
// pixels, with zeros for what is beyond the frame and for the channels' padding, in
// memory if that is large enough. It goes down all rows for a block of channels at a time:
// in a plane they follow one another.
func packed(k *winograd.Kernels, memory []float32, src *buffer, n, y, rows, x, columns int) []float32 {
	s := src.shape
	pixel := winograd.Padded(s.C)
	memory = sized(memory, rows*columns*pixel)
	left, right := max(0, x), min(s.W, x+columns)
	top, bottom := max(0, -y), max(0, min(rows, s.H-y))
	if pixel > s.C || left >= right || top >= bottom {
		clear(memory)
	} else {
		clear(memory[:top*columns*pixel])
		for r := top; r < bottom; r++ {
			row := memory[r*columns*pixel:][:columns*pixel]
			clear(row[:(left-x)*pixel])
			clear(row[(right-x)*pixel:])
		}
		clear(memory[bottom*columns*pixel:])
	}
	if left >= right {
		return memory
	}
	for c := 0; c < s.C; c += winograd.Block {
		for r := top; r < bottom; r++ {
			at := ((n*s.C+c)*s.H+y+r)*s.W + left
			k.Pack(memory[(r*columns+left-x)*pixel+c:], pixel, src.data[at:], s.Plane(), right-left, min(winograd.Block, s.C-c))
		}
	}
	return memory
}
