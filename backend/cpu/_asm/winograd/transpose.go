package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/averaged/imaging/backend/cpu/_asm/square"
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
	for k, v := range square.Transpose(in) {
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
	out := square.Transpose(in)
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
