package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// taps is the number of rows and of columns of a filter.
const taps = 3

// Filters are transformed in float64, a block of channels at a time, so that every
// cache line of what is far away is used up while it is near. What is between the two
// halves of a transform is in the scratch memory, one line of a block's numbers for
// each point and tap, and behind it are eight lines of sums.
const (
	lineBytes = 8 * block
	sumsBegin = patch * taps * lineBytes
)

// filterNumbers are the numbers of G, but 0 and 1, without their signs.
var filterNumbers = []struct {
	name  string
	value float64
}{
	{"2_9", 2. / 9}, {"1_90", 1. / 90}, {"1_45", 1. / 45}, {"2_45", 2. / 45},
	{"8_45", 8. / 45}, {"16_45", 16. / 45}, {"32_45", 32. / 45},
}

// newTable puts float64 numbers into all lanes of a vector in memory.
func newTable(name string, value float64, lanes int) Mem {
	table := GLOBL("winograd_"+name, RODATA|NOPTR)
	for lane := range lanes {
		DATA(8*lane, F64(value))
	}
	return table
}

// broadcast puts a float64 into all lanes of a register.
func broadcast(value float64) reg.VecVirtual {
	bits, v := GP64(), ZMM()
	MOVQ(U64(math.Float64bits(value)), bits)
	VPBROADCASTQ(bits, v)
	return v
}

// vectors is how many vectors of float64 a block has.
func (s *set) vectors() int { return lineBytes / s.bytes() }

// widen loads vector k of a block of float32.
func (s *set) widen(m Mem, k int) reg.VecVirtual {
	v := s.vector()
	VCVTPS2PD(m.Offset(k*s.bytes()/2), v)
	return v
}

// loadDouble loads vector k of a line.
func (s *set) loadDouble(m Mem, k int) reg.VecVirtual {
	v := s.vector()
	VMOVUPD(m.Offset(k*s.bytes()), v)
	return v
}

// narrow rounds v and stores it as vector k of a block of float32.
func (s *set) narrow(v reg.VecVirtual, m Mem, k int) {
	m = m.Offset(k * s.bytes() / 2)
	if s.lanes == 16 {
		half := YMM()
		VCVTPD2PS(v, half)
		VMOVUPS(half, m)
		return
	}
	half := XMM()
	VCVTPD2PSY(v, half)
	VMOVUPS(half, m)
}

// weighted returns k·x, and addWeighted adds it to a.
func (s *set) weighted(k float64, x reg.VecVirtual) reg.VecVirtual {
	v := s.vector()
	VMULPD(s.double(k), x, v)
	return v
}

func (s *set) addWeighted(a reg.VecVirtual, k float64, x reg.VecVirtual) {
	if k < 0 {
		VFNMADD231PD(s.double(-k), x, a)
		return
	}
	VFMADD231PD(s.double(k), x, a)
}

// atPoints is Gw: 12 operations.
func (s *set) atPoints(w [taps]reg.VecVirtual, out func(k int, v reg.VecVirtual)) {
	out(0, w[0])
	out(patch-1, w[2])
	// pair adds k·w₁ to the even part for one point and takes it away for the next.
	pair := func(point int, even reg.VecVirtual, k float64) {
		minus := s.vector()
		VMOVAPD(even, minus)
		s.addWeighted(minus, -k, w[1])
		s.addWeighted(even, k, w[1])
		out(point, even)
		out(point+1, minus)
	}
	ends := s.vector()
	VADDPD(w[2], w[0], ends)
	even := s.vector()
	VXORPD(even, even, even)
	s.addWeighted(even, -2./9, ends)
	pair(1, even, -2./9)
	even = s.weighted(1./90, w[0])
	s.addWeighted(even, 2./45, w[2])
	pair(3, even, 1./45)
	even = s.weighted(32./45, w[0])
	s.addWeighted(even, 8./45, w[2])
	pair(5, even, 16./45)
}

// toTaps is Gᵀy, the transpose of atPoints: 15 operations.
func (s *set) toTaps(y [patch]reg.VecVirtual, out func(k int, v reg.VecVirtual)) {
	plusMinus := func(a, b reg.VecVirtual) (plus, minus reg.VecVirtual) {
		plus, minus = s.vector(), s.vector()
		VADDPD(b, a, plus)
		VSUBPD(b, a, minus)
		return plus, minus
	}
	s1, d1 := plusMinus(y[2], y[1])
	s2, d2 := plusMinus(y[3], y[4])
	s3, d3 := plusMinus(y[5], y[6])
	s.addWeighted(y[0], -2./9, s1)
	s.addWeighted(y[0], 1./90, s2)
	s.addWeighted(y[0], 32./45, s3)
	out(0, y[0])
	middle := s.weighted(2./9, d1)
	s.addWeighted(middle, 1./45, d2)
	s.addWeighted(middle, 16./45, d3)
	out(1, middle)
	s.addWeighted(y[7], -2./9, s1)
	s.addWeighted(y[7], 2./45, s2)
	s.addWeighted(y[7], 8./45, s3)
	out(2, y[7])
}

// gatherDoubles makes the numbers of G ready.
func (s *set) gatherDoubles() {
	for _, n := range filterNumbers {
		s.holdDouble(n.value)
	}
}

// overBlocks emits a loop over the argument channels in blocks, and the function's end.
// The pointers move on by a block of float32.
func overBlocks(body func(), pointers ...reg.GPVirtual) {
	channels := argument("channels")
	Label("block")
	body()
	for _, p := range pointers {
		ADDQ(U8(4*block), p)
	}
	SUBQ(U8(block), channels)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// times emits a loop that runs body count times.
func times(label string, count reg.GPVirtual, body func()) {
	Label(label)
	body()
	DECQ(count)
	JNZ(LabelRef(label))
}

// line addresses the scratch memory of point k and tap t, or the reverse.
func line(scratch reg.GPVirtual, k, t int) Mem {
	return Mem{Base: scratch, Disp: (k*taps + t) * lineBytes}
}

// expand transforms filters, columns first. It asks for the lines that the next block, or
// the first one of the next input channel, will write to: all points are far apart.
func expand(s *set) {
	TEXT("expand"+s.suffix, 0, "func(u *float32, point int, taps *float32, channels int, scratch *[1024]float32)")
	Pragma("noescape")
	s.gatherDoubles()
	u, from, scratch := argument("u"), argument("taps"), argument("scratch")
	overBlocks(func() {
		tap := newStrides(distance("channels"))
		for column := range taps {
			for v := range s.vectors() {
				var w [taps]reg.VecVirtual
				for r := range w {
					w[r] = s.widen(tap.at(from, r*taps+column), v)
				}
				s.atPoints(w, func(k int, value reg.VecVirtual) {
					VMOVUPD(value, line(scratch, k, column).Offset(v*s.bytes()))
				})
			}
		}
		points := newStrides(distance("point"))
		to, row, count := GP64(), GP64(), GP64()
		MOVQ(u, to)
		MOVQ(scratch, row)
		MOVQ(U32(patch), count)
		times("row", count, func() {
			for l := range patch {
				PREFETCHT0(points.at(to, l).Offset(4 * block))
			}
			for v := range s.vectors() {
				var w [taps]reg.VecVirtual
				for t := range w {
					w[t] = s.loadDouble(line(row, 0, t), v)
				}
				s.atPoints(w, func(l int, value reg.VecVirtual) {
					s.narrow(value, points.at(to, l), v)
				})
			}
			LEAQ(Mem{Base: to, Index: points.one, Scale: 8}, to)
			ADDQ(U32(taps*lineBytes), row)
		})
	}, u, from)
}

// contract transforms the sum of arrays back, rows first.
func contract(s *set) {
	TEXT("contract"+s.suffix, 0, "func(taps *float32, parts *[]float32, count, at, point, channels int, scratch *[1024]float32)")
	Pragma("noescape")
	s.gatherDoubles()
	to, parts, scratch, at := argument("taps"), argument("parts"), argument("scratch"), distance("at")
	overBlocks(func() {
		offset, row, rows, point := GP64(), GP64(), GP64(), distance("point")
		MOVQ(at, offset)
		MOVQ(scratch, row)
		MOVQ(U32(patch), rows)
		sums := Mem{Base: scratch, Disp: sumsBegin}
		times("row", rows, func() {
			for l := range patch {
				s.sumParts(parts, offset, sums.Offset(l*lineBytes), fmt.Sprintf("parts%d", l))
				ADDQ(point, offset)
			}
			for v := range s.vectors() {
				var y [patch]reg.VecVirtual
				for l := range y {
					y[l] = s.loadDouble(sums.Offset(l*lineBytes), v)
				}
				s.toTaps(y, func(t int, value reg.VecVirtual) {
					VMOVUPD(value, line(row, 0, t).Offset(v*s.bytes()))
				})
			}
			ADDQ(U32(taps*lineBytes), row)
		})
		tap := newStrides(distance("channels"))
		for column := range taps {
			for v := range s.vectors() {
				var y [patch]reg.VecVirtual
				for k := range y {
					y[k] = s.loadDouble(line(scratch, k, column), v)
				}
				s.toTaps(y, func(r int, value reg.VecVirtual) {
					s.narrow(value, tap.at(to, r*taps+column), v)
				})
			}
		}
	}, to, at)
}

// sumParts adds up a block of all parts and puts the sum at m. It asks for what the
// next block will read, or the first one of the next input channel.
func (s *set) sumParts(parts, offset reg.GPVirtual, m Mem, label string) {
	sums := make([]reg.VecVirtual, s.vectors())
	for v := range sums {
		sums[v] = s.vector()
		VXORPD(sums[v], sums[v], sums[v])
	}
	header, left, part := GP64(), argument("count"), GP64()
	MOVQ(parts, header)
	times(label, left, func() {
		MOVQ(Mem{Base: header}, part)
		ADDQ(U8(sliceBytes), header)
		PREFETCHT0(Mem{Base: part, Index: offset, Scale: 1, Disp: 4 * block})
		for v := range sums {
			VADDPD(s.widen(Mem{Base: part, Index: offset, Scale: 1}, v), sums[v], sums[v])
		}
	})
	for v, sum := range sums {
		VMOVUPD(sum, m.Offset(v*s.bytes()))
	}
}

// sliceBytes is the size of a slice's header, whose first word is its address.
const sliceBytes = 24
