// Command winograd writes the assembly of package internal/winograd, the kernels of
// Winograd's F(6×6, 3×3) for AVX2 and AVX-512, and its Go declarations.
//
// Lanes are channels, so that no kernel but those that change the layout, and the
// projection, ever moves a number from one lane to another.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The sizes of package winograd.
const (
	tile  = 6
	patch = 8
	block = 16
)

func main() {
	ConstraintExpr("!noasm")
	least := GLOBL("winograd_least", RODATA|NOPTR) // above 0
	DATA(0, U32(1))
	for _, s := range []*set{newAVX2(), newAVX512()} {
		input(s)
		multiply(s)
		activate(s)
		update(s)
		pack(s)
		unpack(s, false)
		unpack(s, true)
		spread(s)
		correlate(s)
		expand(s)
		contract(s)
		for _, size := range []int{4, 8, 16} {
			project(s, size, least)
		}
	}
	prefetch()
	Generate()
}

// set is an instruction set on vectors of float32.
type set struct {
	suffix string
	lanes  int
	vector func() reg.VecVirtual
	// constant returns an operand for a number in all lanes, and gather makes ready
	// those that a function will need.
	constant func(v float32) Op
	gather   func(v ...float32)
	// double and holdDouble are the same for float64.
	double     func(v float64) Op
	holdDouble func(v float64)
	// columns and tiles are the width of a product of matrices in vectors and its
	// height: their product and what feeds them fit into the registers.
	columns []int
	tiles   int
}

func (s *set) bytes() int { return 4 * s.lanes }

func (s *set) load(m Mem) reg.VecVirtual {
	v := s.vector()
	VMOVUPS(m, v)
	return v
}

// The constants of the transforms, in every lane.
var constants = []struct {
	name  string
	value float32
}{
	{"p5_25", 5.25}, {"m4_25", -4.25}, {"p0_25", 0.25}, {"m1_25", -1.25}, {"p2", 2}, {"p4", 4}, {"m5", -5}, {"p0_5", 0.5},
	{"p8", 8}, {"p0_125", 0.125}, {"p16", 16}, {"p0_0625", 0.0625}, {"p32", 32}, {"p0_03125", 0.03125},
}

// newAVX2 keeps its constants in memory: there are only 16 registers.
func newAVX2() *set {
	tables := map[float32]Mem{}
	for _, c := range constants {
		table := GLOBL("winograd_"+c.name, RODATA|NOPTR)
		for lane := range 8 {
			DATA(4*lane, F32(c.value))
		}
		tables[c.value] = table
	}
	doubles := map[float64]Mem{}
	for _, n := range filterNumbers {
		doubles[n.value] = newTable("f64_"+n.name, n.value, 4)
	}
	return &set{
		suffix: "AVX2", lanes: 8,
		vector:   func() reg.VecVirtual { return YMM() },
		constant: func(v float32) Op { return tables[v] },
		gather:   func(...float32) {},
		double:   func(v float64) Op { return doubles[v] }, holdDouble: func(float64) {},
		columns: []int{2}, tiles: 6,
	}
}

// newAVX512 has registers to spare for them.
func newAVX512() *set {
	held, doubles := map[float32]reg.VecVirtual{}, map[float64]reg.VecVirtual{}
	return &set{
		suffix: "AVX512", lanes: 16,
		vector:   func() reg.VecVirtual { return ZMM() },
		constant: func(v float32) Op { return held[v] },
		gather: func(values ...float32) {
			bits := GP32()
			for _, v := range values {
				held[v] = ZMM()
				MOVL(U32(floatBits(v)), bits)
				VPBROADCASTD(bits, held[v])
			}
		},
		double:     func(v float64) Op { return doubles[v] },
		holdDouble: func(v float64) { doubles[v] = broadcast(v) },
		columns:    []int{4, 3, 2, 1}, tiles: 6,
	}
}

// strides addresses 9 arrays at a fixed distance.
type strides struct{ one, three, five, seven reg.GPVirtual }

// newStrides takes a distance in bytes.
func newStrides(distance reg.GPVirtual) strides {
	s := strides{distance, GP64(), GP64(), GP64()}
	LEAQ(Mem{Base: distance, Index: distance, Scale: 2}, s.three)
	LEAQ(Mem{Base: distance, Index: distance, Scale: 4}, s.five)
	LEAQ(Mem{Base: s.three, Index: distance, Scale: 4}, s.seven)
	return s
}

// at returns the address of array k.
func (s strides) at(base reg.Register, k int) Mem {
	switch k {
	case 0:
		return Mem{Base: base}
	case 1, 2, 4, 8:
		return Mem{Base: base, Index: s.one, Scale: uint8(k)}
	case 3, 6:
		return Mem{Base: base, Index: s.three, Scale: uint8(k / 3)}
	case 5:
		return Mem{Base: base, Index: s.five, Scale: 1}
	}
	return Mem{Base: base, Index: s.seven, Scale: 1}
}

func argument(name string) reg.GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}

// distance takes an argument in floats and returns it in bytes.
func distance(name string) reg.GPVirtual {
	r := argument(name)
	SHLQ(U8(2), r)
	return r
}

// overColumns emits a loop over the argument out in blocks of columns, the widest that
// fits: body for so many vectors, after which the pointers move on by them.
func (s *set) overColumns(pointers []reg.GPVirtual, body func(columns int)) {
	out := argument("out")
	for i, columns := range s.columns {
		width := columns * s.lanes
		Label(fmt.Sprintf("columns%d", columns))
		CMPQ(out, U8(width))
		if i == len(s.columns)-1 {
			JLT(LabelRef("done"))
		} else {
			JLT(LabelRef(fmt.Sprintf("columns%d", s.columns[i+1])))
		}
		body(columns)
		for _, p := range pointers {
			ADDQ(U32(4*width), p)
		}
		SUBQ(U8(width), out)
		JMP(LabelRef(fmt.Sprintf("columns%d", columns)))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// inBlocks emits a loop over rows in full register blocks and what is left of them: at
// for so many rows, and next after a full block. It stands once for each number of
// columns.
func (s *set) inBlocks(rows reg.GPVirtual, columns int, at func(n int), next func()) {
	name := func(what string, n int) string { return fmt.Sprintf("%s%d_%d", what, columns, n) }
	full := s.tiles
	CMPQ(rows, U8(full))
	JLT(LabelRef(name("rest", full)))
	Label(name("rows", full))
	at(full)
	next()
	SUBQ(U8(full), rows)
	CMPQ(rows, U8(full))
	JGE(LabelRef(name("rows", full)))
	Label(name("rest", full))
	for n := full - 1; n > 0; n-- {
		CMPQ(rows, U8(n))
		JNE(LabelRef(name("not", n)))
		at(n)
		JMP(LabelRef(name("end", 0)))
		Label(name("not", n))
	}
	Label(name("end", 0))
}

// move adds n·stride to a pointer.
func move(pointer, stride reg.GPVirtual, n int) {
	by := GP64()
	IMUL3Q(U8(n), stride, by)
	ADDQ(by, pointer)
}
