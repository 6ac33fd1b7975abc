// Command fft writes the assembly of package internal/fft for arm64, the stages of a transform,
// and its Go declarations.
//
// Every kernel makes the operations of its portable loop, in the same order and with the same
// roundings: products are rounded before they are added. So all instruction sets give the same bits.
package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// A record is 16 real parts and 16 imaginary ones.
const (
	lanes      = 16
	recordSize = 2 * 4 * lanes
)

func main() {
	var p neon.Program
	for radix := 2; radix <= 5; radix++ {
		stage(&p, radix, false)
		stage(&p, radix, true)
	}
	multiply(&p, "multiply", false)
	multiply(&p, "multiplyConjugate", true)
	interleave(&p)
	deinterleave(&p)
	separate(&p)
	combine(&p)
	p.Write()
}

// complexes are four complex numbers.
type complexes struct{ re, im neon.V }

// arithmetic is that of complex vectors. A result is in registers of its own, and what it is made
// of keeps them until it is freed.
type arithmetic struct{ f *neon.Function }

func (a arithmetic) registers() complexes { return complexes{a.f.Vector(), a.f.Vector()} }

func (a arithmetic) free(list ...complexes) {
	for _, v := range list {
		a.f.Free(v.re, v.im)
	}
}

func (a arithmetic) load(base neon.R, at int) complexes {
	v := a.registers()
	a.f.Load(16, v.re, neon.At(base, at))
	a.f.Load(16, v.im, neon.At(base, at+4*lanes))
	return v
}

// put stores v and frees it.
func (a arithmetic) put(v complexes, base neon.R, at int) {
	a.f.Store(16, v.re, neon.At(base, at))
	a.f.Store(16, v.im, neon.At(base, at+4*lanes))
	a.free(v)
}

func (a arithmetic) add(x, y complexes) complexes {
	v := a.registers()
	a.f.FADD(neon.S4, v.re, x.re, y.re)
	a.f.FADD(neon.S4, v.im, x.im, y.im)
	return v
}

func (a arithmetic) sub(x, y complexes) complexes {
	v := a.registers()
	a.f.FSUB(neon.S4, v.re, x.re, y.re)
	a.f.FSUB(neon.S4, v.im, x.im, y.im)
	return v
}

// minusI returns x − i·y.
func (a arithmetic) minusI(x, y complexes) complexes {
	v := a.registers()
	a.f.FADD(neon.S4, v.re, x.re, y.im)
	a.f.FSUB(neon.S4, v.im, x.im, y.re)
	return v
}

// plusI returns x + i·y.
func (a arithmetic) plusI(x, y complexes) complexes {
	v := a.registers()
	a.f.FSUB(neon.S4, v.re, x.re, y.im)
	a.f.FADD(neon.S4, v.im, x.im, y.re)
	return v
}

// number is one lane of a vector.
type number struct {
	v    neon.V
	lane int
}

func (a arithmetic) scaled(x complexes, by number) complexes {
	v := a.registers()
	a.f.FMULElement(neon.S4, v.re, x.re, by.v, by.lane)
	a.f.FMULElement(neon.S4, v.im, x.im, by.v, by.lane)
	return v
}

// gather adds x times a number to sum.
func (a arithmetic) gather(sum, x complexes, by number) {
	p := a.scaled(x, by)
	a.f.FADD(neon.S4, sum.re, sum.re, p.re)
	a.f.FADD(neon.S4, sum.im, sum.im, p.im)
	a.free(p)
}

// turned returns x times the twiddle at a place, or its conjugate, and frees x.
func (a arithmetic) turned(x complexes, w neon.R, at int, conjugate bool) complexes {
	twiddle := a.f.Vector()
	a.f.Load(8, twiddle, neon.At(w, at))
	r, i := a.scaled(x, number{twiddle, 0}), a.scaled(x, number{twiddle, 1})
	a.free(x)
	a.f.Free(twiddle)
	return a.combined(r, i, conjugate)
}

// combined returns x·w from x·re(w) and x·im(w), or x times the conjugate of w, and frees them:
//
//	(ar·wr − ai·wi, ar·wi + ai·wr) or (ar·wr + ai·wi, ai·wr − ar·wi).
func (a arithmetic) combined(r, i complexes, conjugate bool) complexes {
	if conjugate {
		a.f.FADD(neon.S4, r.re, r.re, i.im)
		a.f.FSUB(neon.S4, r.im, r.im, i.re)
	} else {
		a.f.FSUB(neon.S4, r.re, r.re, i.im)
		a.f.FADD(neon.S4, r.im, i.re, r.im)
	}
	a.free(i)
	return r
}

// butterfly is what one of a radix is made of: element k at rows[k], from a place on.
type butterfly struct {
	arithmetic
	rows    []neon.R
	w       neon.R
	at      int
	one     bool // the twiddles are 1, and left out
	inverse bool
	// half and sin3, or the cosines and sines of a fifth.
	constants neon.V
}

func (b butterfly) load(k int) complexes { return b.arithmetic.load(b.rows[k], b.at) }

// element loads element k, turned if the transform is inverse.
func (b butterfly) element(k int) complexes {
	v := b.load(k)
	if b.inverse {
		v = b.turn(k, v)
	}
	return v
}

func (b butterfly) turn(k int, v complexes) complexes {
	if b.one {
		return v
	}
	return b.turned(v, b.w, 8*(k-1), b.inverse)
}

// result stores element k and frees it, turned unless the transform is inverse.
func (b butterfly) result(k int, v complexes) {
	if !b.inverse && k > 0 {
		v = b.turn(k, v)
	}
	b.put(v, b.rows[k], b.at)
}

// both stores t − i·d and t + i·d as elements j and k, or the other way about if the transform is
// inverse, and frees t and d.
func (b butterfly) both(j, k int, t, d complexes) {
	if b.inverse {
		j, k = k, j
	}
	b.result(j, b.minusI(t, d))
	b.result(k, b.plusI(t, d))
	b.free(t, d)
}

// pair returns the sum and the difference of elements j and k.
func (b butterfly) pair(j, k int) (sum, difference complexes) {
	y, z := b.element(j), b.element(k)
	sum, difference = b.add(y, z), b.sub(y, z)
	b.free(y, z)
	return sum, difference
}

func (b butterfly) emit() {
	switch len(b.rows) {
	case 2:
		y, x := b.element(1), b.load(0)
		sum, d := b.add(x, y), b.sub(x, y)
		b.free(x, y)
		b.result(0, sum)
		b.result(1, d)
	case 3:
		half, sin3 := number{b.constants, 0}, number{b.constants, 1}
		sum, difference := b.pair(1, 2)
		d, part := b.scaled(difference, sin3), b.scaled(sum, half)
		x := b.load(0)
		t := b.sub(x, part)
		b.result(0, b.add(x, sum))
		b.free(difference, part, x, sum)
		b.both(1, 2, t, d)
	case 4:
		z, x := b.element(2), b.load(0)
		s, t := b.add(x, z), b.sub(x, z)
		b.free(x, z)
		u, v := b.pair(1, 3)
		b.result(0, b.add(s, u))
		b.result(2, b.sub(s, u))
		b.free(s, u)
		b.both(1, 3, t, v)
	case 5:
		cos51, cos52, sin51, sin52 := number{b.constants, 0}, number{b.constants, 1}, number{b.constants, 2}, number{b.constants, 3}
		s, u := b.pair(1, 4)
		t, v := b.pair(2, 3)
		x := b.load(0)
		sum := b.add(x, s)
		b.result(0, b.add(sum, t))
		b.free(sum)
		mixed := func(ofS, ofT number) complexes { // x + cos·s + cos·t
			part := b.scaled(s, ofS)
			m := b.add(x, part)
			b.free(part)
			b.gather(m, t, ofT)
			return m
		}
		p, q := mixed(cos51, cos52), mixed(cos52, cos51)
		b.free(x, s, t)
		g := b.scaled(u, sin51)
		b.gather(g, v, sin52)
		first, second := b.scaled(u, sin52), b.scaled(v, sin51)
		h := b.sub(first, second)
		b.free(u, v, first, second)
		b.both(1, 4, p, g)
		b.both(2, 3, q, h)
	}
}

// stage emits all butterflies of one radix: for each block of radix·m records, m of them, of which
// number p has the twiddles from p on. Where the portable loop leaves out the twiddles of p = 0,
// which are 1, it does so too.
func stage(p *neon.Program, radix int, inverse bool) {
	name := fmt.Sprintf("forward%d", radix)
	if inverse {
		name = fmt.Sprintf("inverse%d", radix)
	}
	f := p.Function(name+"NEON", "func(x *[32]float32, blocks, m int, twiddle *float32)", fmt.Sprintf("%sNEON is %sPortable.", name, name))
	x, blocks, m, twiddle := f.Parameter("x"), f.Parameter("blocks"), f.Parameter("m"), f.Parameter("twiddle")
	stride := f.General() // from an element of a butterfly to the next
	f.ShiftLeft(stride, m, 7)
	rows := []neon.R{x}
	for len(rows) < radix {
		rows = append(rows, f.General())
	}
	b := butterfly{arithmetic: arithmetic{f}, rows: rows, w: f.General(), inverse: inverse}
	switch radix {
	case 3:
		b.constants = f.Vector()
		f.Numbers(b.constants, [4]float32{.5, 0.866025403784438646763723170752936183})
	case 5:
		b.constants = f.Vector()
		f.Numbers(b.constants, [4]float32{
			0.309016994374947424102293417182819059, -0.809016994374947424102293417182819059,
			0.951056516295153572116439333379382143, 0.587785252292473129168705954639072769,
		})
	}
	left := f.General()
	next := func(one bool) {
		b.one = one
		for b.at = 0; b.at < 4*lanes; b.at += 16 {
			b.emit()
		}
		for _, r := range rows {
			f.AddConstant(r, r, recordSize)
		}
		f.AddConstant(b.w, b.w, 8*(radix-1))
		f.AddConstant(left, left, -1)
	}
	f.Label("block")
	for k := 1; k < radix; k++ {
		f.Add(rows[k], rows[k-1], stride)
	}
	f.Move(left, m)
	f.Move(b.w, twiddle)
	if radix == 2 || radix == 4 {
		next(true)
		f.BranchZero(left, "next")
	}
	f.Label("along")
	next(false)
	f.BranchNotZero(left, "along")
	f.Label("next")
	f.Move(x, rows[radix-1])
	f.AddConstant(blocks, blocks, -1)
	f.BranchNotZero(blocks, "block")
	f.Return()
}

// multiply emits the product of n records, at least 1, with those of a filter or their conjugates.
func multiply(p *neon.Program, name string, conjugate bool) {
	f := p.Function(name+"NEON", "func(x, filter *[32]float32, n int)", fmt.Sprintf("%sNEON is %sPortable.", name, name))
	x, filter, n := f.Parameter("x"), f.Parameter("filter"), f.Parameter("n")
	a := arithmetic{f}
	f.Repeat(n, "along", func() {
		for at := 0; at < 4*lanes; at += 16 {
			v, w := a.load(x, at), a.load(filter, at)
			r, i := a.registers(), a.registers()
			f.FMUL(neon.S4, r.re, v.re, w.re)
			f.FMUL(neon.S4, r.im, v.im, w.re)
			f.FMUL(neon.S4, i.re, v.re, w.im)
			f.FMUL(neon.S4, i.im, v.im, w.im)
			a.free(v, w)
			a.put(a.combined(r, i, conjugate), x, at)
		}
		f.AddConstant(x, x, recordSize)
		f.AddConstant(filter, filter, recordSize)
	})
	f.Return()
}
