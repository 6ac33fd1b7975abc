package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// many addresses 16 arrays at a fixed distance.
type many struct {
	strides
	low, high reg.GPVirtual // the first and the ninth
}

func newMany(base reg.GPVirtual, stride string) many {
	m := many{newStrides(distance(stride)), base, GP64()}
	LEAQ(Mem{Base: base, Index: m.one, Scale: 8}, m.high)
	return m
}

func (m many) at(k int) Mem {
	if k < 8 {
		return m.strides.at(m.low, k)
	}
	return m.strides.at(m.high, k-8)
}

// pack writes blocks of pixels, a vector's worth each, of a vector's worth of
// planes: rows of planes become pixels of channels.
func pack(s *set) {
	TEXT("pack"+s.suffix, NOSPLIT, "func(dst *float32, pixel int, src *float32, plane, blocks int)")
	src, dst, blocks := argument("src"), argument("dst"), argument("blocks")
	planes, pixels := newMany(src, "plane"), newMany(dst, "pixel")
	step := GP64()
	IMUL3Q(U8(s.lanes), pixels.one, step)
	Label("blocks")
	in := make([]reg.VecVirtual, s.lanes)
	for k := range in {
		in[k] = s.load(planes.at(k))
	}
	for k, v := range s.transpose(in) {
		VMOVUPS(v, pixels.at(k))
	}
	for _, p := range []reg.GPVirtual{planes.low, planes.high} {
		ADDQ(U8(s.bytes()), p)
	}
	for _, p := range []reg.GPVirtual{pixels.low, pixels.high} {
		ADDQ(step, p)
	}
	DECQ(blocks)
	JNZ(LabelRef("blocks"))
	VZEROUPPER()
	RET()
}

// unpack is the way back; add says that beta times what stands at dst is added.
func unpack(s *set, add bool) {
	name, arguments := "unpack", "func(dst *float32, plane int, src *float32, pixel, blocks int)"
	if add {
		name, arguments = "unpackAdd", "func(dst *float32, plane int, src *float32, pixel, blocks int, beta float32)"
	}
	TEXT(name+s.suffix, NOSPLIT, arguments)
	src, dst, blocks := argument("src"), argument("dst"), argument("blocks")
	planes, pixels := newMany(dst, "plane"), newMany(src, "pixel")
	step := GP64()
	IMUL3Q(U8(s.lanes), pixels.one, step)
	Label("blocks")
	in := make([]reg.VecVirtual, s.lanes)
	for k := range in {
		in[k] = s.load(pixels.at(k))
	}
	out := s.transpose(in)
	if add {
		beta := s.vector()
		VBROADCASTSS(number("beta"), beta)
		for k, v := range out {
			VFMADD231PS(planes.at(k), beta, v)
		}
	}
	for k, v := range out {
		VMOVUPS(v, planes.at(k))
	}
	for _, p := range []reg.GPVirtual{planes.low, planes.high} {
		ADDQ(U8(s.bytes()), p)
	}
	for _, p := range []reg.GPVirtual{pixels.low, pixels.high} {
		ADDQ(step, p)
	}
	DECQ(blocks)
	JNZ(LabelRef("blocks"))
	VZEROUPPER()
	RET()
}

// transpose returns the columns of a square of vectors: first inside squares of
// 4×4, which the processor's lanes of 128 bits hold, and then these among
// themselves.
func (s *set) transpose(rows []reg.VecVirtual) []reg.VecVirtual {
	n := len(rows)
	op := func(f func(a, b Op, c Op), a, b reg.VecVirtual) reg.VecVirtual {
		c := s.vector()
		f(b, a, c)
		return c
	}
	lowSingle := func(a, b, c Op) { VUNPCKLPS(a, b, c) }
	highSingle := func(a, b, c Op) { VUNPCKHPS(a, b, c) }
	lowDouble := func(a, b, c Op) { VUNPCKLPD(a, b, c) }
	highDouble := func(a, b, c Op) { VUNPCKHPD(a, b, c) }
	// quads[g][c] has, in lane L, column 4L+c of rows 4g to 4g+3.
	quads := make([][]reg.VecVirtual, n/4)
	for g := range quads {
		r := rows[4*g:]
		t0, t1 := op(lowSingle, r[0], r[1]), op(highSingle, r[0], r[1])
		t2, t3 := op(lowSingle, r[2], r[3]), op(highSingle, r[2], r[3])
		quads[g] = []reg.VecVirtual{
			op(lowDouble, t0, t2), op(highDouble, t0, t2), op(lowDouble, t1, t3), op(highDouble, t1, t3),
		}
	}
	columns := make([]reg.VecVirtual, n)
	if n == 8 {
		for c := range 4 {
			columns[c], columns[4+c] = YMM(), YMM()
			VPERM2F128(U8(0x20), quads[1][c], quads[0][c], columns[c])
			VPERM2F128(U8(0x31), quads[1][c], quads[0][c], columns[4+c])
		}
		return columns
	}
	shuffle := func(control uint8, a, b reg.VecVirtual) reg.VecVirtual {
		c := ZMM()
		VSHUFF32X4(U8(control), b, a, c)
		return c
	}
	for c := range 4 {
		a, b := shuffle(0x44, quads[0][c], quads[1][c]), shuffle(0xee, quads[0][c], quads[1][c])
		d, e := shuffle(0x44, quads[2][c], quads[3][c]), shuffle(0xee, quads[2][c], quads[3][c])
		columns[c], columns[4+c] = shuffle(0x88, a, d), shuffle(0xdd, a, d)
		columns[8+c], columns[12+c] = shuffle(0x88, b, e), shuffle(0xdd, b, e)
	}
	return columns
}
