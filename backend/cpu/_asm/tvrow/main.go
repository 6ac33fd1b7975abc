// Command tvrow writes the assembly of package internal/tvrow, the row kernels of
// total variation for AVX2 and AVX-512, and its Go declarations.
//
// Every kernel makes the operations of its portable loop, in the same order and
// with the same roundings: products are rounded before they are added, and square
// roots and quotients are the processor's correctly rounded ones. So all levels
// give the same bits.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxChannels is how many coupled channels the kernels are made for.
const maxChannels = 3

func main() {
	ConstraintExpr("!noasm")
	lanes := maskTable()
	for _, s := range []set{&avx2{table: lanes}, &avx512{}} {
		primal(s)
		for channels := 1; channels <= maxChannels; channels++ {
			dual(s, channels)
			sweep(s, channels)
		}
	}
	limits := newFeasible()
	for channels := 1; channels <= maxChannels; channels++ {
		evaluateAVX2(&avx2{table: lanes}, limits, channels)
		evaluateAVX512(&avx512{}, limits, channels)
	}
	Generate()
}

// planes addresses rows of several planes at a fixed distance: plane k of a
// pointer that moves along the first plane's row.
type planes struct {
	distance, triple, quintuple reg.GPVirtual // in bytes
}

// newPlanes takes a distance in floats from the argument of that name, and
// prepares the addresses of n planes.
func newPlanes(argument string, n int) planes {
	var p planes
	if n < 2 {
		return p
	}
	p.distance = GP64()
	Load(Param(argument), p.distance)
	SHLQ(U8(2), p.distance)
	if n > 3 {
		p.triple = GP64()
		LEAQ(Mem{Base: p.distance, Index: p.distance, Scale: 2}, p.triple)
	}
	if n > 5 {
		p.quintuple = GP64()
		LEAQ(Mem{Base: p.distance, Index: p.distance, Scale: 4}, p.quintuple)
	}
	return p
}

// at returns the address of plane k.
func (p planes) at(base reg.Register, k int) Mem {
	switch k {
	case 0:
		return Mem{Base: base}
	case 1, 2, 4:
		return Mem{Base: base, Index: p.distance, Scale: uint8(k)}
	case 3:
		return Mem{Base: base, Index: p.triple, Scale: 1}
	case 5:
		return Mem{Base: base, Index: p.quintuple, Scale: 1}
	}
	panic(fmt.Sprintf("no address for plane %d", k))
}

// pointer loads a pointer argument.
func pointer(name string) reg.Register { return Load(Param(name), GP64()) }

// along emits a loop over the columns of a row: body for whole blocks that leave
// at least one column over, then tail for the 1 to block columns that remain. n
// counts down, and the pointers move on by a block of floats.
func along(n reg.Register, block int, pointers []reg.Register, body, tail func()) {
	CMPQ(n, U8(block))
	JLE(LabelRef("tail"))
	Label("loop")
	body()
	for _, p := range pointers {
		ADDQ(U8(4*block), p)
	}
	SUBQ(U8(block), n)
	CMPQ(n, U8(block))
	JG(LabelRef("loop"))
	Label("tail")
	tail()
}

// The places of the numbers of a step.
const (
	stepPrimal = 4 * iota
	stepExtrapolation
	stepDual
	stepRadius
	stepMin
)
