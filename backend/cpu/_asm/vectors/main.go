// Command vectors writes the assembly of package internal/vectors, the operations
// on whole arrays for AVX2 and AVX-512, and its Go declarations.
//
// Every kernel makes the operations of its portable loop, in the same order and
// with the same roundings: products are rounded before they are added, and sums
// have the same lanes. So all levels give the same bits.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxTerms is how many terms a linear combination has at most, and how many
// channels are mixed in one pass.
const maxTerms = 4

func main() {
	ConstraintExpr("!noasm")
	lanes := maskTable()
	least, one := number("least", 1), number("one", math.Float32bits(1))
	for _, s := range []set{&avx2{table: lanes}, &avx512{}} {
		fill(s)
		for terms := 1; terms <= maxTerms; terms++ {
			combine(s, terms)
			mix(s, terms)
		}
		clip(s)
		activationGradient(s)
		for _, r := range reductions {
			reduce(s, r)
		}
		for _, ofMap := range []bool{false, true} {
			projectBalls(s, least, ofMap)
			projectBallsGradient(s, one, ofMap)
		}
	}
	Generate()
}

// number is a float32 in memory, given by its bits.
func number(name string, bits uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, U32(bits))
	return m
}

// begin declares a kernel that makes what loop, in Go, does.
func begin(s set, name, signature, loop string) {
	TEXT(name+s.suffix(), NOSPLIT, signature)
	Pragma("noescape")
	Doc(fmt.Sprintf("%s%s is %s.", name, s.suffix(), loop))
}

// pointer loads a pointer argument.
func pointer(name string) reg.Register { return Load(Param(name), GP64()) }

// argument is the address of a float32 argument.
func argument(name string) Mem {
	a, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return a.Addr
}

// along emits a loop over n elements, n at least 1: body for whole blocks that
// leave at least one element over, then tail for the 1 to block elements that
// remain. at addresses the block's elements behind a base; n counts down.
func along(n reg.Register, block int, body, tail func(at func(base reg.Register) Mem)) {
	index := GP64()
	XORQ(index, index)
	at := func(base reg.Register) Mem { return Mem{Base: base, Index: index, Scale: 4} }
	CMPQ(n, U8(block))
	JLE(LabelRef("tail"))
	Label("loop")
	body(at)
	ADDQ(U8(block), index)
	SUBQ(U8(block), n)
	CMPQ(n, U8(block))
	JG(LabelRef("loop"))
	Label("tail")
	tail(at)
	VZEROUPPER()
	RET()
}

// elementwise emits along with the same body for whole vectors and for the rest.
func elementwise(s set, n reg.Register, body func(at func(base reg.Register) Mem)) {
	s.whole()
	along(n, s.lanes(), body, func(at func(base reg.Register) Mem) {
		s.part(n)
		body(at)
	})
}

// fill emits out = v.
func fill(s set) {
	begin(s, "fill", "func(out *float32, n int, v float32)", "fillPortable")
	out, n := pointer("out"), pointer("n")
	v := s.broadcast(argument("v"))
	elementwise(s, n, func(at func(reg.Register) Mem) { s.store(v, at(out)) })
}

// combine emits out = a₀x₀ + a₁x₁ + …, added from the left.
func combine(s set, terms int) {
	begin(s, fmt.Sprintf("combine%d", terms), "func(out *float32, x *[4]*float32, n int, a *[4]float32)", fmt.Sprintf("combinePortable of %d terms", terms))
	out, arrays, n, coefficients := pointer("out"), pointer("x"), pointer("n"), pointer("a")
	x, a := make([]reg.Register, terms), make([]reg.VecVirtual, terms)
	for k := range terms {
		p := GP64()
		MOVQ(Mem{Base: arrays, Disp: 8 * k}, p)
		x[k], a[k] = p, s.broadcast(Mem{Base: coefficients, Disp: 4 * k})
	}
	elementwise(s, n, func(at func(reg.Register) Mem) {
		sum := s.load(at(x[0]))
		VMULPS(a[0], sum, sum)
		for k := 1; k < terms; k++ {
			v := s.load(at(x[k]))
			VMULPS(a[k], v, v)
			VADDPS(v, sum, sum)
		}
		s.store(sum, at(out))
	})
}

// mix emits outᵢ = mᵢ₀in₀ + mᵢ₁in₁ + …, added from the left, for every row i of m. A
// vector of every input is loaded before one of an output is stored.
func mix(s set, columns int) {
	begin(s, fmt.Sprintf("mix%d", columns), "func(out, in *float32, n, plane, rows int, m *float32)", fmt.Sprintf("mixPortable of %d columns", columns))
	out, in, n := pointer("out"), pointer("in"), pointer("n")
	plane, rows, m := pointer("plane"), pointer("rows"), pointer("m")
	SHLQ(U8(2), plane)
	planes := []reg.Register{in}
	for k := 1; k < columns; k++ {
		p := GP64()
		LEAQ(Mem{Base: planes[k-1], Index: plane, Scale: 1}, p)
		planes = append(planes, p)
	}
	label := 0
	elementwise(s, n, func(at func(reg.Register) Mem) {
		var x []reg.VecVirtual
		for _, p := range planes {
			x = append(x, s.load(at(p)))
		}
		to, a, left := GP64(), GP64(), GP64()
		LEAQ(at(out), to)
		MOVQ(m, a)
		MOVQ(rows, left)
		row := fmt.Sprintf("row%d", label)
		label++
		Label(row)
		var sum reg.VecVirtual
		for k, v := range x {
			product := s.multiplied(v, Mem{Base: a, Disp: 4 * k})
			if sum == nil {
				sum = product
			} else {
				VADDPS(product, sum, sum)
			}
		}
		s.store(sum, Mem{Base: to})
		ADDQ(plane, to)
		ADDQ(U8(4*columns), a)
		DECQ(left)
		JNZ(LabelRef(row))
	})
}

// clip emits out = x brought into [lo, hi]. Where x is not a number, and where both
// operands are zeros, the instructions return what stands first here, which is x.
func clip(s set) {
	begin(s, "clip", "func(out, x *float32, n int, lo, hi float32)", "clipPortable")
	out, x, n := pointer("out"), pointer("x"), pointer("n")
	lo, hi := s.broadcast(argument("lo")), s.broadcast(argument("hi"))
	elementwise(s, n, func(at func(reg.Register) Mem) {
		v := s.load(at(x))
		VMAXPS(v, lo, v)
		VMINPS(v, hi, v)
		s.store(v, at(out))
	})
}

// activationGradient emits dx = dy, times slope where out ≤ 0.
func activationGradient(s set) {
	begin(s, "activationGradient", "func(dx, out, dy *float32, n int, slope float32)", "activationGradientPortable")
	dx, out, dy, n := pointer("dx"), pointer("out"), pointer("dy"), pointer("n")
	slope, zero := s.broadcast(argument("slope")), s.vector()
	VXORPS(zero, zero, zero)
	elementwise(s, n, func(at func(reg.Register) Mem) {
		d, y := s.load(at(dy)), s.load(at(out))
		s.scaleWhereAtMost(y, zero, d, slope)
		s.store(d, at(dx))
	})
}
