package cpu

import (
	"sync"

	"github.com/averaged/imaging/backend"
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

// sized returns a slice of n floats in place of s, with any contents.
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
func (d *host) convolve3(dst, src *buffer, b *bank, e ending) {
	bias := make([]float32, b.padded())
	copy(bias, e.bias)
	c := tileConvolution{kernels: d.kernels.winograd, bank: b, end: e, bias: bias, h: src.Shape.H, w: src.Shape.W, region: dst.Shape.Whole()}
	pieces := c.pieces()
	d.pool.For(src.Shape.N*pieces, func(i int) {
		c, n := c, i/pieces
		c.from, c.to = windowOf(src, n, src.Shape.Whole()), windowOf(dst, n, c.region)
		c.piece(i % pieces)
	})
}

// planarWindow is a rectangle of the planes of an image.
type planarWindow struct {
	data           []float32 // from its first pixel on
	channels, h, w int
	plane, row     int // distances
}

// windowOf returns a region of image n of a buffer.
func windowOf(b *buffer, n int, r backend.Region) planarWindow {
	s := b.Shape
	h, w := r.Size()
	return planarWindow{b.Data[(n*s.C*s.H+r.Y0)*s.W+r.X0:], s.C, h, w, s.Plane(), s.W}
}

// tileConvolution is a convolution of one image under way, by Winograd's algorithm, whose
// source and result are planes or a ring that has all tile rows.
type tileConvolution struct {
	kernels *winograd.Kernels
	bank    *bank
	end     ending
	bias    []float32 // with padding
	h, w    int       // of the image
	from    planarWindow
	to      planarWindow   // the region of the result
	region  backend.Region // that is computed, all of it if the result is a ring
	// fromRing and toRing take the places of planes where they are not nil.
	fromRing, toRing *ring
	zeros            []float32 // a row of fromRing
}

// area returns the tiles of the region.
func (c *tileConvolution) area() area {
	return area{tilesOf(c.region.Y0, c.region.Y1), tilesOf(c.region.X0, c.region.X1)}
}

// pieces returns in how many pieces the region is computed.
func (c *tileConvolution) pieces() int {
	a := c.area()
	return a.rows.len() * planarGroupsOf(a.columns.len())
}

// piece computes one of them.
func (c *tileConvolution) piece(i int) {
	a := c.area()
	across := a.columns.len()
	groups := planarGroupsOf(across)
	k := i % groups
	g := planarGroups.Get().(*planarGroup)
	c.group(g, a.rows.from+i/groups, a.columns.from+k*across/groups, a.columns.from+(k+1)*across/groups)
	planarGroups.Put(g)
}

// group computes tiles [from, to) of a tile row.
func (c *tileConvolution) group(g *planarGroup, tileRow, from, to int) {
	tiles := to - from
	in, out := winograd.Padded(c.bank.in), c.bank.padded()
	x0, y0 := from*winograd.Tile, tileRow*winograd.Tile
	var rows [winograd.Patch][]float32
	if c.fromRing != nil {
		c.fromRing.patchRows(&rows, tileRow, c.h, c.zeros)
		for y := range rows {
			rows[y] = rows[y][x0*in:]
		}
	} else {
		width := tiles*winograd.Tile + 2 // one pixel more on either side
		g.in = packed(c.kernels, g.in, c.from, y0-1, winograd.Patch, x0-1, width)
		for y := range rows {
			rows[y] = g.in[y*width*in:][:width*in]
		}
	}
	m, point := g.multiplied(c.kernels, c.bank, c.bank.in, c.bank.out, tiles, func(t int, v []float32, point int) {
		c.kernels.Input(v, point, &rows, t*winograd.Tile*in, in, in, &g.scratch)
	}, nil)

	visible := min(winograd.Tile, c.h-y0)
	if c.toRing != nil {
		for t := range tiles {
			c.kernels.Activate(c.toRing.tile(tileRow, (from+t)*winograd.Tile+1), c.toRing.row, out, m[t*out:], point, c.bias, c.end.slopeOf(), visible, out, &g.scratch)
		}
		if right := to * winograd.Tile; right > c.w {
			c.toRing.clear(y0, visible, c.w+1, right+1)
		}
		return
	}
	pitch := tiles * winograd.Tile * out
	g.out = sized(g.out, winograd.Tile*pitch)
	for t := range tiles {
		to := g.out[t*winograd.Tile*out:]
		if c.end.scale == 1 {
			c.kernels.Activate(to, pitch, out, m[t*out:], point, c.bias, c.end.slopeOf(), visible, out, &g.scratch)
		} else { // an adjoint, which has neither bias nor activation
			c.kernels.Update(to, pitch, out, c.bias, 0, 0, m[t*out:], point, c.end.scale, visible, out, &g.scratch)
		}
	}
	r := c.region
	left, right := max(x0, r.X0), min(x0+tiles*winograd.Tile, r.X1)
	for y := max(y0, r.Y0); y < min(y0+visible, r.Y1); y++ {
		at := (y-r.Y0)*c.to.row + left - r.X0
		c.kernels.Unpack(c.to.data[at:], c.to.plane, g.out[(y-y0)*pitch+(left-x0)*out:], out, right-left, c.to.channels, c.end.beta)
	}
}

// packed returns rows [y, y+rows) and columns [x, x+columns) of src as rows of pixels, with
// zeros for what is beyond the frame and for the channels' padding, in memory if that is
// large enough. It goes down all rows for a block of channels at a time: in a plane they
// follow one another.
func packed(k *winograd.Kernels, memory []float32, src planarWindow, y, rows, x, columns int) []float32 {
	pixel := winograd.Padded(src.channels)
	memory = sized(memory, rows*columns*pixel)
	left, right := max(0, x), min(src.w, x+columns)
	top, bottom := max(0, -y), max(0, min(rows, src.h-y))
	if pixel > src.channels || left >= right || top >= bottom {
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
	for c := 0; c < src.channels; c += winograd.Block {
		for r := top; r < bottom; r++ {
			at := c*src.plane + (y+r)*src.row + left
			k.Pack(memory[(r*columns+left-x)*pixel+c:], pixel, src.data[at:], src.plane, right-left, min(winograd.Block, src.channels-c))
		}
	}
	return memory
}
