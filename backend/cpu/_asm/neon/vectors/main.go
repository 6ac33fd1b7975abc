// Command vectors writes the assembly of package internal/vectors for arm64, the
// operations on whole arrays, and its Go declarations.
//
// Every kernel makes the operations of its portable loop, in the same order and
// with the same roundings: products are rounded before they are added, and sums
// have the same lanes. So all levels give the same bits.
package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// maxTerms is how many terms a linear combination has at most, and how many
// channels are mixed in one pass.
const maxTerms = 4

// block is how many elements the first loop takes at a time.
const block = 16

func main() {
	var p neon.Program
	fill(&p)
	for terms := 1; terms <= maxTerms; terms++ {
		combine(&p, terms)
		mix(&p, terms)
	}
	clip(&p)
	activationGradient(&p)
	for _, r := range reductions {
		reduce(&p, r)
	}
	for _, ofMap := range []bool{false, true} {
		projectBalls(&p, ofMap)
		projectBallsGradient(&p, ofMap)
	}
	p.Write()
}

// begin declares a kernel that makes what loop, in Go, does.
func begin(p *neon.Program, name, signature, loop string) *neon.Function {
	return p.Function(name+"NEON", signature, fmt.Sprintf("%sNEON is %s.", name, loop))
}

// part is some elements of arrays: vectors of four, or one element in the first
// lane of a vector.
type part struct {
	f       *neon.Function
	name    string // of the loop
	vectors int    // 0 for one element
}

func (p part) elements() int { return max(1, 4*p.vectors) }

func (p part) registers() []neon.V { return p.f.Vectors(max(1, p.vectors)) }

// load returns the elements of an array.
func (p part) load(a neon.R) []neon.V {
	v := p.registers()
	if p.vectors == 0 {
		p.f.Load(4, v[0], neon.At(a, 0))
	} else if p.vectors == 1 {
		p.f.Load(16, v[0], neon.At(a, 0))
	}
	for i := 0; i+1 < p.vectors; i += 2 {
		p.f.LoadPair(v[i], v[i+1], neon.At(a, 16*i))
	}
	return v
}

func (p part) store(v []neon.V, a neon.R) {
	if p.vectors == 0 {
		p.f.Store(4, v[0], neon.At(a, 0))
	} else if p.vectors == 1 {
		p.f.Store(16, v[0], neon.At(a, 0))
	}
	for i := 0; i+1 < p.vectors; i += 2 {
		p.f.StorePair(v[i], v[i+1], neon.At(a, 16*i))
	}
}

// along emits a loop over parts of the n elements that are left while there are
// enough for one.
func along(f *neon.Function, n neon.R, elements int, name string, body func(), arrays ...neon.R) {
	f.BranchLess(n, elements, name+"end")
	f.Label(name)
	f.Scope(body)
	for _, a := range arrays {
		f.AddConstant(a, a, 4*elements)
	}
	f.AddConstant(n, n, -elements)
	f.BranchNotLess(n, elements, name)
	f.Label(name + "end")
}

// elementwise emits loops over blocks, then vectors, then single elements, and the
// function's end.
func elementwise(f *neon.Function, n neon.R, body func(p part), arrays ...neon.R) {
	for _, l := range []struct {
		name    string
		vectors int
	}{{"blocks", block / 4}, {"vectors", 1}, {"elements", 0}} {
		p := part{f, l.name, l.vectors}
		along(f, n, p.elements(), l.name, func() { body(p) }, arrays...)
	}
	f.Return()
}

// fill emits out = v.
func fill(p *neon.Program) {
	f := begin(p, "fill", "func(out *float32, n int, v float32)", "fillPortable")
	out, n, v := f.Parameter("out"), f.Parameter("n"), f.Number("v")
	elementwise(f, n, func(p part) {
		same := make([]neon.V, block/4)
		for i := range same {
			same[i] = v
		}
		p.store(same, out)
	}, out)
}

// combine emits out = a₀x₀ + a₁x₁ + …, added from the left.
func combine(p *neon.Program, terms int) {
	f := begin(p, fmt.Sprintf("combine%d", terms), "func(out *float32, x *[4]*float32, n int, a *[4]float32)", fmt.Sprintf("combinePortable of %d terms", terms))
	out, arrays, n, coefficients := f.Parameter("out"), f.Parameter("x"), f.Parameter("n"), f.Parameter("a")
	x := make([]neon.R, terms)
	for k := range x {
		x[k] = f.General()
		f.LoadGeneral(x[k], neon.At(arrays, 8*k))
	}
	a := f.Vector()
	f.Load(16, a, neon.At(coefficients, 0))
	elementwise(f, n, func(p part) {
		sums := p.load(x[0])
		for _, sum := range sums {
			f.FMULElement(neon.S4, sum, sum, a, 0)
		}
		for k := 1; k < terms; k++ {
			for i, v := range p.load(x[k]) {
				f.FMULElement(neon.S4, v, v, a, k)
				f.FADD(neon.S4, sums[i], sums[i], v)
				f.Free(v)
			}
		}
		p.store(sums, out)
	}, append(x, out)...)
}

// mix emits outᵢ = mᵢ₀in₀ + mᵢ₁in₁ + …, added from the left, for every row i of m. A
// part of every input is loaded before one of an output is stored.
func mix(p *neon.Program, columns int) {
	f := begin(p, fmt.Sprintf("mix%d", columns), "func(out, in *float32, n, plane, rows int, m *float32)", fmt.Sprintf("mixPortable of %d columns", columns))
	out, n, plane := f.Parameter("out"), f.Parameter("n"), f.Parameter("plane")
	rows, m := f.Parameter("rows"), f.Parameter("m")
	f.ShiftLeft(plane, plane, 2)
	in := []neon.R{f.Parameter("in")}
	for len(in) < columns {
		r := f.General()
		f.Add(r, in[len(in)-1], plane)
		in = append(in, r)
	}
	elementwise(f, n, func(p part) {
		var x [][]neon.V
		for _, r := range in {
			x = append(x, p.load(r))
		}
		left, numbers, to := f.General(), f.General(), f.General()
		f.Move(left, rows)
		f.Move(numbers, m)
		f.Move(to, out)
		f.Repeat(left, p.name+"rows", func() {
			a := f.Vectors(columns)
			for k := range a {
				f.Load(4, a[k], neon.At(numbers, 4*k))
			}
			f.AddConstant(numbers, numbers, 4*columns)
			sums, product := p.registers(), f.Vector()
			for i, sum := range sums {
				f.FMULElement(neon.S4, sum, x[0][i], a[0], 0)
				for k := 1; k < columns; k++ {
					f.FMULElement(neon.S4, product, x[k][i], a[k], 0)
					f.FADD(neon.S4, sum, sum, product)
				}
			}
			p.store(sums, to)
			f.Add(to, to, plane)
		})
	}, append(in, out)...)
}

// clip emits out = x brought into [lo, hi]. Maxima and minima would not do: where x
// or a limit is not a number, and where both are zeros, x is to stay.
func clip(p *neon.Program) {
	f := begin(p, "clip", "func(out, x *float32, n int, lo, hi float32)", "clipPortable")
	out, x, n := f.Parameter("out"), f.Parameter("x"), f.Parameter("n")
	lo, hi := f.Number("lo"), f.Number("hi")
	elementwise(f, n, func(p part) {
		v := p.load(x)
		for i := range v {
			beyond := f.Vector()
			f.FCMGT(neon.S4, beyond, lo, v[i])
			f.BSL(beyond, lo, v[i])
			f.FCMGT(neon.S4, v[i], beyond, hi)
			f.BSL(v[i], hi, beyond)
			f.Free(beyond)
		}
		p.store(v, out)
	}, out, x)
}

// activationGradient emits dx = dy, times slope where out ≤ 0.
func activationGradient(p *neon.Program) {
	f := begin(p, "activationGradient", "func(dx, out, dy *float32, n int, slope float32)", "activationGradientPortable")
	dx, out, dy, n := f.Parameter("dx"), f.Parameter("out"), f.Parameter("dy"), f.Parameter("n")
	slope, zero := f.Number("slope"), f.Vector()
	f.Zero(zero)
	elementwise(f, n, func(p part) {
		v, where := p.load(dy), p.load(out)
		for i := range v {
			scaled := f.Vector()
			f.FMUL(neon.S4, scaled, v[i], slope)
			f.FCMGE(neon.S4, where[i], zero, where[i])
			f.BSL(where[i], scaled, v[i])
			f.Free(scaled)
		}
		p.store(where, dx)
	}, dx, out, dy)
}
