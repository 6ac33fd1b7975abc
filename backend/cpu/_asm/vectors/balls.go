package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ballPixels is how many pixels of a group are projected at a time: a cache line of
// each channel, so that a line that is loaded is used up, wherever the channels' planes
// fall together in the cache.
const ballPixels = sumLanes

// octave is how many channels are added as a balanced tree; the sums of octaves are
// added in order.
const octave = 8

// balls is a kernel on a group of channels that are plane bytes apart.
type balls struct {
	set
	plane, size reg.Register
	labels      int
}

func newBalls(s set) *balls {
	b := &balls{set: s, plane: pointer("plane"), size: pointer("size")}
	SHLQ(U8(2), b.plane)
	return b
}

// along emits the loop over pixels: body for whole blocks and for the rest.
func (b *balls) along(n reg.Register, body func(at func(base reg.Register) Mem)) {
	b.wholeBlock()
	along(n, ballPixels, body, func(at func(base reg.Register) Mem) {
		b.partOfBlock(n)
		body(at)
	})
}

// zeros returns the vectors of a block of pixels.
func (b *balls) zeros() []reg.VecVirtual {
	v := make([]reg.VecVirtual, b.vectors())
	for k := range v {
		v[k] = b.vector()
		VXORPS(v[k], v[k], v[k])
	}
	return v
}

// channels emits a loop over the group's channels: body for the one that the pointers,
// copies of these places, are at.
func (b *balls) channels(places []Mem, body func(p []reg.Register)) {
	p, left, label := b.begin(places)
	Label(label)
	body(p)
	b.next(p)
	DECQ(left)
	JNZ(LabelRef(label))
}

func (b *balls) begin(places []Mem) (p []reg.Register, left reg.GPVirtual, label string) {
	for _, m := range places {
		r := GP64()
		LEAQ(m, r)
		p = append(p, r)
	}
	left = GP64()
	MOVQ(b.size, left)
	b.labels++
	return p, left, fmt.Sprintf("channels%d", b.labels)
}

func (b *balls) next(p []reg.Register) {
	for _, r := range p {
		ADDQ(b.plane, r)
	}
}

// sum emits the sum over the group's channels of terms, in octaves. term returns that of
// vector k of the channel at p.
func (b *balls) sum(places []Mem, term func(p []reg.Register, k int) reg.VecVirtual) []reg.VecVirtual {
	sum := b.zeros()
	p, left, label := b.begin(places)
	rest := label + "rest"
	CMPQ(left, U8(octave))
	JLT(LabelRef(rest))
	Label(label)
	addTo(sum, b.tree(p, octave, term))
	SUBQ(U8(octave), left)
	CMPQ(left, U8(octave))
	JGE(LabelRef(label))
	Label(rest)
	// What is missing of an octave is zero: four, two and one channels are there, or not.
	var parts [][]reg.VecVirtual
	for n := octave / 2; n > 0; n /= 2 {
		part, skip := b.zeros(), fmt.Sprintf("%s%d", label, n)
		TESTQ(U32(n), left)
		JZ(LabelRef(skip))
		addTo(part, b.tree(p, n, term))
		Label(skip)
		parts = append(parts, part)
	}
	addTo(parts[1], parts[2])
	addTo(parts[0], parts[1])
	addTo(sum, parts[0])
	return sum
}

// tree returns the sum of the terms of n channels, a power of two, as a balanced tree.
// The pointers end behind them.
func (b *balls) tree(p []reg.Register, n int, term func(p []reg.Register, k int) reg.VecVirtual) []reg.VecVirtual {
	if n == 1 {
		var v []reg.VecVirtual
		for k := range b.vectors() {
			v = append(v, term(p, k))
		}
		b.next(p)
		return v
	}
	v := b.tree(p, n/2, term)
	addTo(v, b.tree(p, n/2, term))
	return v
}

func addTo(sum, v []reg.VecVirtual) {
	for k := range sum {
		VADDPS(v[k], sum[k], sum[k])
	}
}

// squares emits the squared norms of the group at a place.
func (b *balls) squares(place Mem) []reg.VecVirtual {
	return b.sum([]Mem{place}, func(p []reg.Register, k int) reg.VecVirtual {
		v := b.loadPart(Mem{Base: p[0]}, k)
		VMULPS(v, v, v)
		return v
	})
}

// radii are those of a block of pixels: one number, or a number for each pixel of a map.
type radii struct {
	one reg.VecVirtual
	all reg.Register // the map
}

// of returns those of vector k of the block.
func (b *balls) of(at func(reg.Register) Mem, r radii, k int) reg.VecVirtual {
	if r.all == nil {
		return r.one
	}
	return b.loadPart(at(r.all), k)
}

// projectBalls emits out = in·radius/max(‖in‖, radius), of one radius or of a map of them.
// Of two operands of which one is not a number the first comes out of a maximum, here the
// norm.
func projectBalls(s set, least Mem, ofMap bool) {
	if ofMap {
		begin(s, "projectBallsMap", "func(out, in, radius *float32, n, plane, size int)", "projectBallsPortable")
	} else {
		begin(s, "projectBalls", "func(out, in *float32, n, plane, size int, radius float32)", "projectBallsPortable")
	}
	out, in, n, b := pointer("out"), pointer("in"), pointer("n"), newBalls(s)
	floor, r := s.broadcast(least), radii{}
	if ofMap {
		r.all = pointer("radius")
	} else {
		r.one = s.broadcast(argument("radius"))
		VMAXPS(r.one, floor, floor)
	}
	b.along(n, func(at func(reg.Register) Mem) {
		scale := b.squares(at(in))
		for k, v := range scale {
			radius := b.of(at, r, k)
			VSQRTPS(v, v)
			if ofMap {
				VMAXPS(v, radius, v)
			}
			VMAXPS(v, floor, v)
			VDIVPS(v, radius, v)
		}
		b.channels([]Mem{at(in), at(out)}, func(p []reg.Register) {
			for k, v := range scale {
				x := b.loadPart(Mem{Base: p[0]}, k)
				VMULPS(v, x, x)
				b.storePart(x, Mem{Base: p[1]}, k)
			}
		})
	})
}

// projectBallsGradient emits, of n = x/‖x‖, out = radius/‖x‖·(dy − n⟨n, dy⟩), and adds
// ⟨n, dy⟩ to the sums, or sets the map's gradient to it; where ‖x‖ ≤ radius, out = dy, and
// the sums stay, or the map's gradient is 0.
func projectBallsGradient(s set, one Mem, ofMap bool) {
	if ofMap {
		begin(s, "projectBallsMapGradient", "func(out, dradius, x, dy, radius *float32, n, plane, size int)", "projectBallsGradientPortable")
	} else {
		begin(s, "projectBallsGradient", "func(out, x, dy *float32, n, plane, size int, radius float32, sums *[16]float64)", "projectBallsGradientPortable")
	}
	out, x, dy, n, b := pointer("out"), pointer("x"), pointer("dy"), pointer("n"), newBalls(s)
	var memory reg.Register
	var r radii
	if ofMap {
		memory, r.all = pointer("dradius"), pointer("radius")
	} else {
		memory, r.one = pointer("sums"), s.broadcast(argument("radius"))
	}
	ones := s.broadcast(one)
	b.along(n, func(at func(reg.Register) Mem) {
		norms := b.squares(at(x))
		along := b.sum([]Mem{at(x), at(dy)}, func(p []reg.Register, k int) reg.VecVirtual {
			v, y := b.loadPart(Mem{Base: p[0]}, k), b.loadPart(Mem{Base: p[1]}, k)
			VMULPS(v, y, y)
			return y
		})
		for k, norm := range norms {
			radius := b.of(at, r, k)
			VSQRTPS(norm, norm)
			inverse := s.vector()
			VDIVPS(norm, ones, inverse)
			VMULPS(inverse, along[k], along[k])
			keep := s.whereNotAtMost(norm, radius)
			// Absent pixels are zero, and on the sphere or inside it.
			along[k] = s.kept(keep, along[k])
			if ofMap {
				b.storePart(along[k], at(memory), k)
			} else {
				b.addWide(along[k], memory, k)
			}
			VMULPS(inverse, radius, norm)
			VMULPS(norm, along[k], along[k])
			VMULPS(inverse, along[k], along[k])
			along[k] = s.kept(keep, along[k])
			norms[k] = s.chosen(keep, norm, ones)
		}
		b.channels([]Mem{at(x), at(dy), at(out)}, func(p []reg.Register) {
			for k := range norms {
				v, y := b.loadPart(Mem{Base: p[0]}, k), b.loadPart(Mem{Base: p[1]}, k)
				VMULPS(norms[k], y, y)
				VMULPS(along[k], v, v)
				VSUBPS(v, y, y)
				b.storePart(y, Mem{Base: p[2]}, k)
			}
		})
	})
}

// blocks is what balls need of an instruction set: blocks of ballPixels.
type blocks interface {
	// vectors is how many a block has.
	vectors() int
	// wholeBlock lets loads and stores take whole blocks, and partOfBlock the first n
	// pixels, at least 1.
	wholeBlock()
	partOfBlock(n reg.Register)
	// loadPart loads vector k of the block at m, with zeros for absent pixels.
	loadPart(m Mem, k int) reg.VecVirtual
	storePart(v reg.VecVirtual, m Mem, k int)
	// whereNotAtMost returns a mask of where x ≤ limit does not hold.
	whereNotAtMost(x, limit reg.VecVirtual) reg.Register
	// kept returns v where a mask is, and zeros elsewhere; chosen v or else w.
	kept(mask reg.Register, v reg.VecVirtual) reg.VecVirtual
	chosen(mask reg.Register, v, w reg.VecVirtual) reg.VecVirtual
	// addWide adds vector k of a block to the lanes of float64 at sums.
	addWide(v reg.VecVirtual, sums reg.Register, k int)
}

// notLessOrEqual is the predicate of a comparison that is true for NaN and raises no
// exception for a quiet one.
const notLessOrEqual = 0x16

func (s *avx512) vectors() int                             { return 1 }
func (s *avx512) wholeBlock()                              { s.whole() }
func (s *avx512) partOfBlock(n reg.Register)               { s.part(n) }
func (s *avx512) loadPart(m Mem, _ int) reg.VecVirtual     { return s.load(m) }
func (s *avx512) storePart(v reg.VecVirtual, m Mem, _ int) { s.store(v, m) }

func (s *avx512) whereNotAtMost(x, limit reg.VecVirtual) reg.Register {
	where := K()
	VCMPPS(U8(notLessOrEqual), limit, x, where)
	return where
}

func (s *avx512) kept(mask reg.Register, v reg.VecVirtual) reg.VecVirtual {
	w := ZMM()
	VMOVAPS_Z(v, mask, w)
	return w
}

func (s *avx512) chosen(mask reg.Register, v, w reg.VecVirtual) reg.VecVirtual {
	c := ZMM()
	VBLENDMPS(v, w, mask, c)
	return c
}

func (s *avx512) addWide(v reg.VecVirtual, sums reg.Register, _ int) {
	low, high, half := ZMM(), ZMM(), YMM()
	VEXTRACTF64X4(U8(1), v, half)
	VCVTPS2PD(v.(reg.Vec).AsY(), low)
	VCVTPS2PD(half, high)
	for k, w := range []reg.VecVirtual{low, high} {
		at := Mem{Base: sums, Disp: 64 * k}
		VADDPD(at, w, w)
		VMOVUPD(w, at)
	}
}

func (s *avx2) vectors() int               { return ballPixels / 8 }
func (s *avx2) wholeBlock()                { s.inPart = false }
func (s *avx2) partOfBlock(n reg.Register) { s.inPart, s.address = true, s.maskAddress(n) }

func (s *avx2) blockMask(k int) reg.VecVirtual {
	mask := YMM()
	VMOVUPS(Mem{Base: s.address, Disp: 32 * k}, mask)
	return mask
}

func (s *avx2) loadPart(m Mem, k int) reg.VecVirtual {
	v := YMM()
	if s.inPart {
		VMASKMOVPS(m.Offset(32*k), s.blockMask(k), v)
	} else {
		VMOVUPS(m.Offset(32*k), v)
	}
	return v
}

func (s *avx2) storePart(v reg.VecVirtual, m Mem, k int) {
	if s.inPart {
		VMASKMOVPS(v, s.blockMask(k), m.Offset(32*k))
	} else {
		VMOVUPS(v, m.Offset(32*k))
	}
}

func (s *avx2) whereNotAtMost(x, limit reg.VecVirtual) reg.Register {
	where := YMM()
	VCMPPS(U8(notLessOrEqual), limit, x, where)
	return where
}

func (s *avx2) kept(mask reg.Register, v reg.VecVirtual) reg.VecVirtual {
	w := YMM()
	VANDPS(v, mask, w)
	return w
}

func (s *avx2) chosen(mask reg.Register, v, w reg.VecVirtual) reg.VecVirtual {
	c := YMM()
	VBLENDVPS(mask, v, w, c)
	return c
}

func (s *avx2) addWide(v reg.VecVirtual, sums reg.Register, k int) {
	low, high, half := YMM(), YMM(), XMM()
	VEXTRACTF128(U8(1), v, half)
	VCVTPS2PD(v.(reg.Vec).AsX(), low)
	VCVTPS2PD(half, high)
	for i, w := range []reg.VecVirtual{low, high} {
		at := Mem{Base: sums, Disp: 64*k + 32*i}
		VADDPD(at, w, w)
		VMOVUPD(w, at)
	}
}
