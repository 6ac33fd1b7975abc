package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// project emits the projection of groups of size channels of a tile's pixels. Of six
// pixels, a row of the tile, the squared norms come together in one vector or two, so
// that there are few roots and quotients. The tree of each sum is the same for every
// vector length.
//
// It is a pass of its own over what activate has just written, which is in the first-level
// cache: that costs 6 loads and stores for a row of six vectors, and keeps groups that are
// longer than a vector out of activate. For groups of 8, a row takes 18 shuffles, two a
// cycle, 25 other operations and 6 stores: with a root and a quotient about 20 cycles. A
// tile of 64 channels has 24 rows of 512 bits, and its two products of matrices take 16
// thousand cycles: 3 % were expected of a network, with vectors of 256 bits the same.
// Measured on a Zen 5 at 3.8 GHz: 26 cycles a row (23 with 256 bits, for 48 rows).
func project(s *set, size int, least Mem) {
	TEXT(fmt.Sprintf("project%d%s", size, s.suffix), NOSPLIT, "func(dst *float32, row, pixel int, radius *float32, radiusRow, rows, channels int)")
	Pragma("noescape")
	dst, radius, rows, channels := argument("dst"), argument("radius"), argument("rows"), argument("channels")
	row, radiusRow, pixels := distance("row"), distance("radiusRow"), newStrides(distance("pixel"))
	p := projection{s: s, pixels: pixels, floor: s.vector()}
	VBROADCASTSS(least, p.floor)
	if s.lanes == 16 {
		bits := GP32()
		p.odd = K()
		MOVL(U32(0xf0f0), bits)
		KMOVW(bits, p.odd)
	}
	// One group of 16 channels is more than a short vector.
	vectors := max(1, size/s.lanes)
	Label("row")
	to, radii, left := GP64(), GP64(), GP64()
	MOVQ(dst, to)
	MOVQ(radius, radii)
	MOVQ(channels, left)
	Label("channels")
	p.to = to
	p.radius = s.load(Mem{Base: radii})
	p.group(size, vectors)
	ADDQ(U8(vectors*s.bytes()), to)
	ADDQ(U8(vectors*s.bytes()), radii)
	SUBQ(U8(vectors*s.lanes), left)
	JNZ(LabelRef("channels"))
	ADDQ(row, dst)
	ADDQ(radiusRow, radius)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// projection is a place in a tile.
type projection struct {
	s             *set
	to            reg.GPVirtual // the first channel of the first pixel
	pixels        strides
	radius, floor reg.VecVirtual // of every channel, or laid out as octaves are; above 0
	odd           reg.Register   // of 512 bits the second and fourth 128
}

// at addresses vector k of the channels of pixel x.
func (p projection) at(x, k int) Mem { return p.pixels.at(p.to, x).Offset(k * p.s.bytes()) }

// group projects some vectors of channels.
func (p projection) group(size, vectors int) {
	s := p.s
	var first, second reg.VecVirtual // scales of pixels 0 to 3, and of 4 and 5 twice
	if size == 4 {
		low, high := p.quads(0)
		first, second = p.scale(low), p.scale(high)
	} else {
		sums := p.octaves(0)
		for k := 1; k < vectors; k++ {
			VADDPS(p.octaves(k), sums, sums)
		}
		if size > 8 && vectors == 1 {
			VADDPS(s.swapHalves(sums), sums, sums)
		}
		first, second = s.spread128(p.scale(sums))
	}
	for x := range tile {
		scale := s.vector()
		if x < 4 {
			VPERMILPS(U8(0x55*x), first, scale)
		} else {
			VPERMILPS(U8(0x55*2*(x-4)), second, scale)
		}
		for k := range vectors {
			y := scale
			if vectors > 1 {
				y = s.vector()
			}
			VMULPS(p.at(x, k), scale, y)
			VMOVUPS(y, p.at(x, k))
		}
	}
}

// quads returns the squares added by fours in vector k, (0+1)+(2+3): in lane l of each
// 128 bits those of pixel l, and in lanes 2l and 2l+1 those of pixel 4+l.
func (p projection) quads(k int) (first, second reg.VecVirtual) {
	s := p.s
	var pairs []reg.VecVirtual
	for x := 0; x < tile; x += 2 {
		v, w := s.load(p.at(x, k)), s.load(p.at(x+1, k))
		VMULPS(v, v, v)
		VMULPS(w, w, w)
		pairs = append(pairs, s.neighbours(v, w))
	}
	first, second = s.neighbours(pairs[0], pairs[1]), s.vector()
	VPERMILPS(U8(0xb1), pairs[2], second)
	VADDPS(pairs[2], second, second)
	return first, second
}

// neighbours adds neighbouring lanes, of each 128 bits those of v first.
func (s *set) neighbours(v, w reg.VecVirtual) reg.VecVirtual {
	even, odd := s.vector(), s.vector()
	VSHUFPS(U8(0x88), w, v, even)
	VSHUFPS(U8(0xdd), w, v, odd)
	VADDPS(odd, even, even)
	return even
}

// octaves returns the squares added by eights in vector k: of each 256 bits the first
// half as first of quads, and the second as second.
func (p projection) octaves(k int) reg.VecVirtual {
	s := p.s
	first, second := p.quads(k)
	// Of two neighbours of 128 bits one pairing stands in place, the other crosswise.
	straight, crossed := p.blend128(first, second), p.blend128(second, first)
	VADDPS(s.swap128(crossed), straight, straight)
	return straight
}

// scale returns radius/max(√x, radius), 1 for 0/0. Of two operands of which one is not a
// number the first comes out of a maximum, here the norm.
func (p projection) scale(x reg.VecVirtual) reg.VecVirtual {
	VSQRTPS(x, x)
	VMAXPS(x, p.radius, x)
	VMAXPS(x, p.floor, x)
	VDIVPS(x, p.radius, x)
	return x
}

// blend128 takes the even 128 bits of v and the odd ones of w.
func (p projection) blend128(v, w reg.VecVirtual) reg.VecVirtual {
	c := p.s.vector()
	if p.s.lanes == 8 {
		VBLENDPS(U8(0xf0), w, v, c)
	} else {
		VBLENDMPS(w, v, p.odd, c)
	}
	return c
}

// swap128 exchanges neighbours of 128 bits.
func (s *set) swap128(v reg.VecVirtual) reg.VecVirtual {
	c := s.vector()
	if s.lanes == 8 {
		VPERM2F128(U8(0x01), v, v, c)
	} else {
		VSHUFF32X4(U8(0xb1), v, v, c)
	}
	return c
}

// swapHalves exchanges the halves of 512 bits.
func (s *set) swapHalves(v reg.VecVirtual) reg.VecVirtual {
	c := s.vector()
	VSHUFF32X4(U8(0x4e), v, v, c)
	return c
}

// spread128 returns the even 128 bits, each twice, and the odd ones.
func (s *set) spread128(v reg.VecVirtual) (even, odd reg.VecVirtual) {
	even, odd = s.vector(), s.vector()
	if s.lanes == 8 {
		VPERM2F128(U8(0x00), v, v, even)
		VPERM2F128(U8(0x11), v, v, odd)
	} else {
		VSHUFF32X4(U8(0xa0), v, v, even)
		VSHUFF32X4(U8(0xf5), v, v, odd)
	}
	return even, odd
}
