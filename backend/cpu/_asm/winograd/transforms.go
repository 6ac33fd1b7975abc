package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func floatBits(v float32) uint32 { return math.Float32bits(v) }

// The arithmetic of a transform, each into a new register or over its first
// argument.

func (s *set) add(a, b reg.VecVirtual) reg.VecVirtual { c := s.vector(); VADDPS(b, a, c); return c }
func (s *set) sub(a, b reg.VecVirtual) reg.VecVirtual { c := s.vector(); VSUBPS(b, a, c); return c }

// accumulate adds k·x to a.
func (s *set) accumulate(a reg.VecVirtual, k float32, x reg.VecVirtual) {
	VFMADD231PS(s.constant(k), x, a)
}

// plusMinus returns a + k·b and, over a, a − k·b.
func (s *set) plusMinus(a reg.VecVirtual, k float32, b reg.VecVirtual) (plus, minus reg.VecVirtual) {
	if k == 1 {
		return s.add(a, b), s.sub(a, b)
	}
	plus = s.vector()
	VMOVAPS(a, plus)
	VFMADD231PS(s.constant(k), b, plus)
	VFNMADD231PS(s.constant(k), b, a)
	return plus, a
}

// interpolate is Bᵀx: 24 operations. It calls out as soon as a result is there, so
// that few are held at once.
func (s *set) interpolate(x [patch]reg.VecVirtual, out func(k int, v reg.VecVirtual)) {
	y := s.sub(x[0], x[6])
	s.accumulate(y, 5.25, s.sub(x[4], x[2]))
	out(0, y)
	y = s.sub(x[7], x[1])
	s.accumulate(y, 5.25, s.sub(x[3], x[5]))
	out(7, y)

	even, odd := s.add(x[2], x[6]), s.add(x[1], x[5])
	s.accumulate(even, -4.25, x[4])
	s.accumulate(odd, -4.25, x[3])
	plus, minus := s.plusMinus(even, 1, odd)
	out(1, plus)
	out(2, minus)

	even, odd = s.vector(), s.vector()
	VMOVAPS(x[6], even)
	VMOVAPS(x[5], odd)
	s.accumulate(even, 0.25, x[2])
	s.accumulate(odd, 0.25, x[1])
	s.accumulate(even, -1.25, x[4])
	s.accumulate(odd, -1.25, x[3])
	plus, minus = s.plusMinus(even, 2, odd)
	out(3, plus)
	out(4, minus)

	even, odd = x[6], x[5]
	s.accumulate(even, 4, x[2])
	s.accumulate(odd, 4, x[1])
	s.accumulate(even, -5, x[4])
	s.accumulate(odd, -5, x[3])
	plus, minus = s.plusMinus(even, 0.5, odd)
	out(5, plus)
	out(6, minus)
}

// evaluate is Aᵀm: 20 operations.
func (s *set) evaluate(m [patch]reg.VecVirtual, out func(k int, v reg.VecVirtual)) {
	s1, d1 := s.plusMinus(m[1], 1, m[2])
	s2, d2 := s.plusMinus(m[3], 1, m[4])
	s3, d3 := s.plusMinus(m[5], 1, m[6])

	y := s.add(m[0], s1)
	VADDPS(s2, y, y)
	VADDPS(s3, y, y)
	out(0, y)
	combine := func(k int, a reg.VecVirtual, b float32, x reg.VecVirtual, c float32, z reg.VecVirtual) {
		y := s.vector()
		VMOVAPS(a, y)
		s.accumulate(y, b, x)
		s.accumulate(y, c, z)
		out(k, y)
	}
	combine(2, s1, 4, s2, 0.25, s3)
	combine(4, s1, 16, s2, 0.0625, s3)
	combine(1, d1, 2, d2, 0.5, d3)
	combine(3, d1, 8, d2, 0.125, d3)
	y = s.add(m[7], d1)
	s.accumulate(y, 32, d2)
	s.accumulate(y, 0.03125, d3)
	out(5, y)
}

// number addresses an argument that is a number.
func number(name string) Mem {
	where, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return where.Addr
}

// overChannels emits a loop over the argument channels: body handles one vector of
// them.
func (s *set) overChannels(body func(), pointers ...reg.GPVirtual) {
	channels := argument("channels")
	Label("channels")
	body()
	for _, p := range pointers {
		ADDQ(U32(s.bytes()), p)
	}
	SUBQ(U8(s.lanes), channels)
	JNZ(LabelRef("channels"))
	VZEROUPPER()
	RET()
}

// input transforms rows first: a patch's row is one run of memory. It asks for the
// next tile's pixels while it works on this one's: eight runs at once are more than
// the processor follows by itself.
func input(s *set) {
	TEXT("input"+s.suffix, 0, "func(v *float32, point int, rows *[8][]float32, x, pixel, channels int, scratch *[1024]float32)")
	s.gather(5.25, -4.25, 0.25, -1.25, 2, 4, -5, 0.5)
	v, rows, scratch := argument("v"), argument("rows"), argument("scratch")
	x := distance("x")
	s.overChannels(func() {
		pixels := newStrides(distance("pixel"))
		ahead := GP64()
		MOVQ(pixels.one, ahead)
		SHLQ(U8(3), ahead)
		for y := range patch {
			row := GP64()
			MOVQ(Mem{Base: rows, Disp: 24 * y}, row)
			ADDQ(x, row)
			var d [patch]reg.VecVirtual
			for k := range patch {
				d[k] = s.load(pixels.at(row, k))
			}
			s.interpolate(d, func(k int, value reg.VecVirtual) {
				VMOVUPS(value, Mem{Base: scratch, Disp: (k*patch + y) * s.bytes()})
			})
			ADDQ(ahead, row)
			for k := range tile {
				PREFETCHT0(pixels.at(row, k))
			}
		}
		point := distance("point")
		to := GP64()
		MOVQ(v, to)
		next := GP64()
		MOVQ(point, next)
		SHLQ(U8(3), next)
		points := newStrides(next)
		for k := range patch {
			var d [patch]reg.VecVirtual
			for l := range patch {
				d[l] = s.load(Mem{Base: scratch, Disp: (k*patch + l) * s.bytes()})
			}
			s.interpolate(d, func(l int, value reg.VecVirtual) {
				VMOVUPS(value, points.at(to, l))
			})
			ADDQ(point, to)
		}
	}, v, x)
}

// outputs emits what makes a tile's outputs of one vector of channels: columns of
// points first, and then row by row; row is called before and end for every value
// of a row, in the order of evaluate. It asks for what the next tile will read, which
// stands beside this one's at every point.
func (s *set) outputs(m, scratch reg.GPVirtual, row func(y int), end func(x int, value reg.VecVirtual), done string) {
	point := distance("point")
	from := GP64()
	MOVQ(m, from)
	next := GP64()
	MOVQ(point, next)
	SHLQ(U8(3), next)
	points := newStrides(next)
	following := distance("channels")
	for k := range patch {
		var d [patch]reg.VecVirtual
		for l := range patch {
			d[l] = s.load(points.at(from, l))
		}
		beside := GP64()
		LEAQ(Mem{Base: from, Index: following, Scale: 1}, beside)
		for l := range patch {
			PREFETCHT0(points.at(beside, l))
		}
		s.evaluate(d, func(y int, value reg.VecVirtual) {
			VMOVUPS(value, Mem{Base: scratch, Disp: (y*patch + k) * s.bytes()})
		})
		ADDQ(point, from)
	}
	rows := argument("rows")
	for y := range tile {
		row(y)
		var d [patch]reg.VecVirtual
		for k := range patch {
			d[k] = s.load(Mem{Base: scratch, Disp: (y*patch + k) * s.bytes()})
		}
		s.evaluate(d, end)
		if y < tile-1 {
			DECQ(rows)
			JZ(LabelRef(done))
		}
	}
	Label(done)
}

var outputConstants = []float32{4, 0.25, 16, 0.0625, 2, 0.5, 8, 0.125, 32, 0.03125}

func activate(s *set) {
	TEXT("activate"+s.suffix, 0, "func(dst *float32, row, pixel int, m *float32, point int, bias *float32, slope float32, rows, channels int, scratch *[1024]float32)")
	s.gather(outputConstants...)
	dst, m, bias, scratch := argument("dst"), argument("m"), argument("bias"), argument("scratch")
	slope := s.vector()
	VBROADCASTSS(number("slope"), slope)
	s.overChannels(func() {
		to := GP64()
		var pixels strides
		s.outputs(m, scratch, func(y int) {
			if y == 0 {
				MOVQ(dst, to)
				pixels = newStrides(distance("pixel"))
			} else {
				ADDQ(distance("row"), to)
			}
			beside := GP64()
			LEAQ(pixels.at(to, 6), beside)
			for x := range tile {
				PREFETCHT0(pixels.at(beside, x))
			}
		}, func(x int, value reg.VecVirtual) {
			VADDPS(Mem{Base: bias}, value, value)
			low := s.vector()
			VMULPS(slope, value, low)
			// Of two operands of which one is not a number the second comes out.
			VMAXPS(value, low, value)
			VMOVUPS(value, pixels.at(to, x))
		}, "done")
	}, dst, m, bias)
}

func update(s *set) {
	TEXT("update"+s.suffix, 0, "func(dst *float32, row, pixel int, src *float32, srcRow, srcPixel int, m *float32, point int, scale float32, rows, channels int, scratch *[1024]float32)")
	s.gather(outputConstants...)
	dst, src, m, scratch := argument("dst"), argument("src"), argument("m"), argument("scratch")
	scale := s.vector()
	VBROADCASTSS(number("scale"), scale)
	s.overChannels(func() {
		to, from := GP64(), GP64()
		var pixels, srcPixels reg.GPVirtual
		s.outputs(m, scratch, func(y int) {
			if y == 0 {
				MOVQ(dst, to)
				MOVQ(src, from)
				pixels, srcPixels = distance("pixel"), distance("srcPixel")
			} else {
				ADDQ(distance("row"), to)
				ADDQ(distance("srcRow"), from)
			}
			beside := GP64()
			LEAQ(Mem{Base: to, Index: pixels, Scale: 2}, beside)
			LEAQ(Mem{Base: beside, Index: pixels, Scale: 4}, beside)
			for x := range tile {
				PREFETCHT0(pixelAt(beside, pixels, x))
			}
		}, func(x int, value reg.VecVirtual) {
			VFMADD213PS(pixelAt(from, srcPixels, x), scale, value)
			VMOVUPS(value, pixelAt(to, pixels, x))
		}, "done")
	}, dst, src, m)
}

// pixelAt addresses pixel x with scratch registers of its own where the processor's
// scales do not reach.
func pixelAt(base, pixel reg.GPVirtual, x int) Mem {
	switch x {
	case 0:
		return Mem{Base: base}
	case 1, 2, 4:
		return Mem{Base: base, Index: pixel, Scale: uint8(x)}
	case 3:
		at := GP64()
		LEAQ(Mem{Base: base, Index: pixel, Scale: 1}, at)
		return Mem{Base: at, Index: pixel, Scale: 2}
	}
	at := GP64()
	LEAQ(Mem{Base: base, Index: pixel, Scale: 1}, at)
	return Mem{Base: at, Index: pixel, Scale: 4}
}
