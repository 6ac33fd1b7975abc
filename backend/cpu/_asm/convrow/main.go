// Command convrow writes the assembly of package internal/convrow, the register
// blocks of direct convolution and of its gradient for AVX2 and AVX-512, and its Go
// declarations.
//
// A sum of a convolution goes through the taps in their order, one fused
// multiply-add for each, in one register: AVX2 and AVX-512 give the same bits, and an
// output's bits do not depend on which vector or which lane of it the output is made
// in.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is how many vectors of columns a block has at most. With three, a tap of
// eight channels (four for AVX2) takes 24 (12) multiply-adds for 11 (7) loads, and
// the sums fill the registers.
const vectors = 3

func main() {
	ConstraintExpr("!noasm")
	lanes := maskTable()
	for _, s := range []set{&avx2{table: lanes}, &avx512{}} {
		for _, channels := range s.channels() {
			for n := 1; n <= vectors; n++ {
				block(s, channels, n)
			}
			if channels != 3 {
				correlate(s, channels)
			}
		}
	}
	Generate()
}

// set is an instruction set on vectors of float32.
type set interface {
	suffix() string
	lanes() int
	// channels are the numbers of output channels that kernels are made for.
	channels() []int
	vector() reg.VecVirtual
	// last makes the mask of the n lanes of a block's last vector that are columns.
	last(n reg.Register)
	load(m Mem, masked bool) reg.VecVirtual
	store(v reg.VecVirtual, m Mem, masked bool)
	broadcast(m Mem) reg.VecVirtual
	// halves returns eight lanes, the sums of what is eight lanes apart in v.
	halves(v reg.VecVirtual) reg.VecVirtual
	// upper returns the upper four of eight lanes.
	upper(v reg.VecVirtual) reg.VecVirtual
}

// block emits the sums of a register block: n vectors of columns of some output
// channels.
func block(s set, channels, n int) {
	name := fmt.Sprintf("block%dx%d%s", channels, n, s.suffix())
	TEXT(name, NOSPLIT, "func(dst *float32, plane int, src *float32, offsets *int, taps int, weights *float32, stride, last int, bias *float32, end *[3]float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is blockPortable for %d channels of %d to %d columns,", name, channels, (n-1)*s.lanes()+1, n*s.lanes()), "last of them in the last vector.")
	src, offsets, taps := pointer("src"), pointer("offsets"), Load(Param("taps"), GP64())
	weights, ofWeights := pointer("weights"), newStrides("stride", channels)
	sums := make([][]reg.VecVirtual, channels)
	for k := range sums {
		for range n {
			v := s.vector()
			VXORPS(v, v, v)
			sums[k] = append(sums[k], v)
		}
	}

	Label("tap")
	from := GP64()
	MOVQ(Mem{Base: offsets}, from)
	x := make([]reg.VecVirtual, n)
	for j := range x {
		x[j] = s.vector()
		VMOVUPS(Mem{Base: src, Index: from, Scale: 1, Disp: 4 * s.lanes() * j}, x[j])
	}
	for k := range sums {
		w := s.broadcast(ofWeights.at(weights, k))
		for j := range x {
			VFMADD231PS(x[j], w, sums[k][j])
		}
	}
	ADDQ(U8(8), offsets)
	ADDQ(U8(4), weights)
	DECQ(taps)
	JNZ(LabelRef("tap"))

	dst, bias, end := pointer("dst"), pointer("bias"), pointer("end")
	plane := newStrides("plane", channels)
	s.last(Load(Param("last"), GP64()))
	finish(s, sums, dst, bias, end, plane)
}

// The places of the numbers of an ending.
const (
	endSlope = 4 * iota
	endScale
	endBeta
)

// finish emits the ending of all sums and their stores, once with and once without
// what was in dst.
func finish(s set, sums [][]reg.VecVirtual, dst, bias, end reg.Register, plane strides) {
	for k := range sums {
		b := s.broadcast(Mem{Base: bias, Disp: 4 * k})
		for _, v := range sums[k] {
			VADDPS(b, v, v)
		}
	}
	slope := s.broadcast(Mem{Base: end, Disp: endSlope})
	for k := range sums {
		for _, v := range sums[k] {
			t := s.vector()
			VMULPS(slope, v, t)
			VMAXPS(t, v, v)
		}
	}
	scale := s.broadcast(Mem{Base: end, Disp: endScale})
	for k := range sums {
		for _, v := range sums[k] {
			VMULPS(scale, v, v)
		}
	}
	each := func(f func(v reg.VecVirtual, m Mem, masked bool)) {
		for k := range sums {
			for j, v := range sums[k] {
				f(v, plane.at(dst, k).Offset(4*s.lanes()*j), j == len(sums[k])-1)
			}
		}
	}
	bits := GP32()
	MOVL(Mem{Base: end, Disp: endBeta}, bits)
	ADDL(bits, bits) // without the sign
	JZ(LabelRef("store"))
	beta := s.broadcast(Mem{Base: end, Disp: endBeta})
	each(func(v reg.VecVirtual, m Mem, masked bool) {
		old := s.load(m, masked)
		VMULPS(beta, old, old)
		VADDPS(old, v, v)
	})
	Label("store")
	each(s.store)
	VZEROUPPER()
	RET()
}

// pointer loads a pointer argument.
func pointer(name string) reg.Register { return Load(Param(name), GP64()) }

// strides addresses arrays at a fixed distance, up to eight of them.
type strides struct {
	once, triple, quintuple, septuple reg.GPVirtual // in bytes
}

// newStrides takes a distance in floats from the argument of that name, and
// prepares the addresses of n arrays.
func newStrides(argument string, n int) strides {
	var s strides
	if n < 2 {
		return s
	}
	s.once = GP64()
	Load(Param(argument), s.once)
	SHLQ(U8(2), s.once)
	if n > 3 {
		s.triple = GP64()
		LEAQ(Mem{Base: s.once, Index: s.once, Scale: 2}, s.triple)
	}
	if n > 5 {
		s.quintuple = GP64()
		LEAQ(Mem{Base: s.once, Index: s.once, Scale: 4}, s.quintuple)
	}
	if n > 7 {
		s.septuple = GP64()
		LEAQ(Mem{Base: s.once, Index: s.triple, Scale: 2}, s.septuple)
	}
	return s
}

// at returns the address of array k.
func (s strides) at(base reg.Register, k int) Mem {
	switch k {
	case 0:
		return Mem{Base: base}
	case 1, 2, 4:
		return Mem{Base: base, Index: s.once, Scale: uint8(k)}
	case 3, 6:
		return Mem{Base: base, Index: s.triple, Scale: uint8(k / 3)}
	case 5:
		return Mem{Base: base, Index: s.quintuple, Scale: 1}
	case 7:
		return Mem{Base: base, Index: s.septuple, Scale: 1}
	}
	panic(fmt.Sprintf("no address for array %d", k))
}
