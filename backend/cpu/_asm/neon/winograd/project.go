package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// minNumber is the bits of the least float32 above 0, in two lanes.
const minNumber = 1<<32 | 1

// project emits the projection of groups of size channels of a tile's pixels. Of six
// pixels, a row of the tile, the squared norms come together in two vectors, so that
// there are few roots and quotients. The tree of each sum is that of the other
// processors' kernels.
func project(p *neon.Program, size int) {
	f := p.Function(fmt.Sprintf("project%dNEON", size),
		"func(dst *float32, row, pixel int, radius *float32, radiusRow, rows, channels int)",
		fmt.Sprintf("project%dNEON is project for groups of %d.", size, size))
	dst, radius, rows, channels := f.Parameter("dst"), f.Parameter("radius"), f.Parameter("rows"), f.Parameter("channels")
	row, radiusRow := distance(f, "row"), distance(f, "radiusRow")
	pixels := newStrides(f, distance(f, "pixel"), tile)
	floor := f.Vector()
	f.Broadcast(neon.D2, floor, minNumber)
	to, radii, left := f.General(), f.General(), f.General()
	f.Repeat(rows, "row", func() {
		f.Move(to, dst)
		f.Move(radii, radius)
		f.Move(left, channels)
		f.Label("group")
		f.Scope(func() {
			g := projection{f: f, to: to, pixels: pixels, vectors: size / lanes, floor: floor}
			for i := range g.radius {
				g.radius[i] = f.Vector()
			}
			f.Load(bytes, g.radius[0], neon.At(radii, 0))
			if size > lanes { // those of pixels 4 and 5 (radiusPixel of package winograd)
				f.Load(bytes/2, g.radius[1], neon.At(radii, 4*5))
			} else {
				f.Load(bytes/2, g.radius[1], neon.At(radii, 0))
			}
			g.group()
		})
		f.AddConstant(radii, radii, 4*size)
		f.AddConstant(left, left, -size)
		f.BranchNotZero(left, "group")
		f.Add(dst, dst, row)
		f.Add(radius, radius, radiusRow)
	})
	f.Return()
}

// projection is a group of channels of a row of a tile's pixels.
type projection struct {
	f       *neon.Function
	to      neon.R // the first channel of the first pixel, and then of the next group
	pixels  strides
	vectors int       // of the group
	radius  [2]neon.V // of pixels 0 to 3, and of 4 and 5
	floor   neon.V    // above 0
}

// group projects the group.
func (g projection) group() {
	f, at := g.f, g.f.General()
	f.Move(at, g.to)
	// The tree over the vectors: quads waits at each level for its like.
	var quads [3][2]neon.V
	var waits [3]bool
	for range g.vectors {
		v, l := g.quads(at), 0
		for ; waits[l]; l++ {
			for i := range v {
				f.FADD(neon.S4, quads[l][i], quads[l][i], v[i])
				f.Free(v[i])
			}
			v, waits[l] = quads[l], false
		}
		quads[l], waits[l] = v, true
		f.AddConstant(at, at, bytes)
	}
	var scales [2]neon.V
	for l, w := range waits {
		if w {
			scales = quads[l]
		}
	}
	for i, x := range scales {
		f.FSQRT(neon.S4, x, x)
		// The maximum of a number and NaN is NaN.
		f.FMAX(neon.S4, x, x, g.radius[i])
		f.FMAX(neon.S4, x, x, g.floor)
		f.FDIV(neon.S4, x, g.radius[i], x)
	}
	y := f.Vector()
	for range g.vectors {
		for x := range tile {
			f.Load(bytes, y, g.pixels.at(g.to, x))
			f.FMULElement(neon.S4, y, y, scales[x/lanes], x%lanes)
			f.Store(bytes, y, g.pixels.at(g.to, x))
		}
		f.AddConstant(g.to, g.to, bytes)
	}
}

// quads returns the squares of a vector of channels added, (0+1)+(2+3): in lane l those
// of pixel l, and in lane l of the second those of pixel 4+l.
func (g projection) quads(at neon.R) [2]neon.V {
	f := g.f
	var pairs [tile / 2]neon.V
	for x := range pairs {
		v, w := f.Vector(), f.Vector()
		f.Load(bytes, v, g.pixels.at(at, 2*x))
		f.Load(bytes, w, g.pixels.at(at, 2*x+1))
		f.FMUL(neon.S4, v, v, v)
		f.FMUL(neon.S4, w, w, w)
		f.FADDP(neon.S4, v, v, w)
		f.Free(w)
		pairs[x] = v
	}
	f.FADDP(neon.S4, pairs[0], pairs[0], pairs[1])
	f.FADDP(neon.S4, pairs[2], pairs[2], pairs[2])
	f.Free(pairs[1])
	return [2]neon.V{pairs[0], pairs[2]}
}
