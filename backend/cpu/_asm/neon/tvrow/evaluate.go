package main

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// sumBytes is the size of one of the sums of evaluate: eight lanes of float64,
// column j in lane j mod 8.
const sumBytes = 8 * 8

// The places of the sums.
const (
	sumFidelity = sumBytes * iota
	sumVariation
	sumResidual
	sumProduct
)

// wide walks along columns whose floats are computed with as float64.
type wide struct {
	*columns
	one, half, limit, inverse neon.V // constants of feasible
	sums                      neon.R
	// lane is where in the sums the block's first column belongs, in bytes.
	lane neon.R
}

func newWide(c *columns) *wide {
	f := c.f
	w := &wide{columns: c, sums: f.Parameter("sums"), lane: f.General()}
	for _, constant := range []struct {
		v     *neon.V
		value float64
	}{{&w.one, 1}, {&w.half, 0.5}, {&w.limit, 1e-5}} {
		*constant.v = f.Vector()
		f.Broadcast(neon.D2, *constant.v, math.Float64bits(constant.value))
	}
	inverse := f.Parameter("inverse")
	w.inverse = f.Vector()
	f.LD1R(neon.D2, w.inverse, inverse)
	f.FreeGeneral(inverse)
	f.Constant(w.lane, 0)
	return w
}

func (w *wide) load(row neon.R) neon.V {
	v := w.columns.load(row)
	w.f.FCVTL(v, v)
	return v
}

// differenceRight returns what stands one to the right less x, 0 in the row's last
// column.
func (w *wide) differenceRight(row neon.R, x neon.V) neon.V {
	if w.last {
		v := w.f.Vector()
		w.f.Zero(v)
		return v
	}
	v := w.loadRight(row)
	w.f.FCVTL(v, v)
	w.f.FSUB(neon.D2, v, v, x)
	return v
}

// add adds v, which it frees, to the sum at a place. Beyond the block's columns
// nothing is added.
func (w *wide) add(v neon.V, sums neon.R, place int) {
	s := w.f.Vector()
	m := neon.At(sums, place)
	w.f.Load(8*w.lanes, s, m)
	w.f.FADD(neon.D2, s, s, v)
	w.f.Store(8*w.lanes, s, m)
	w.f.Free(s, v)
}

// square replaces v by its square.
func (w *wide) square(v neon.V) { w.f.FMUL(neon.D2, v, v, v) }

// sumOfSquares returns v² + w².
func (w *wide) sumOfSquares(v, u neon.V) neon.V {
	s, t := w.f.Vector(), w.f.Vector()
	w.f.FMUL(neon.D2, s, v, v)
	w.f.FMUL(neon.D2, t, u, u)
	w.f.FADD(neon.D2, s, s, t)
	w.f.Free(t)
	return s
}

// total is a sum over channels, whose first term may stand for it because it is
// added to 0.
type total struct {
	v     neon.V
	begun bool
}

// add adds v, which it takes or frees.
func (t *total) add(f *neon.Function, v neon.V) {
	if !t.begun {
		t.v, t.begun = v, true
		return
	}
	f.FADD(neon.D2, t.v, t.v, v)
	f.Free(v)
}

// evaluate emits the sums of the duality gap over a row.
func evaluate(p *neon.Program, channels int) {
	name := fmt.Sprintf("evaluate%dNEON", channels)
	f := p.Function(name,
		"func(above, p, u, below, y *float32, width, plane, distance int, inverse *float64, sums *[4][8]float64)",
		fmt.Sprintf("%s is evaluatePortable for %d channels.", name, channels))
	c := newColumns(f)
	above, rows := c.ends("above", "distance", channels), c.ends("p", "plane", 2*channels)
	u, below, y := c.ends("u", "plane", channels), c.ends("below", "plane", channels), c.ends("y", "plane", channels)
	w := newWide(c)
	carry := carries(f, channels)
	blocks := 0
	c.along(2, func() {
		var fidelity, residual, gradient, norm, product total
		for k := range channels {
			z, a, b := w.load(y[k]), w.load(rows[2*k]), w.load(rows[2*k+1])
			r, t := f.Vector(), w.shiftIn(neon.D2, carry[k], b)
			f.FADD(neon.D2, r, z, a)
			f.FSUB(neon.D2, t, b, t)
			f.FADD(neon.D2, r, r, t)
			f.Free(t)
			t = w.load(above[k])
			f.FSUB(neon.D2, r, r, t)
			f.Free(t)
			x := w.load(u[k])
			f.FSUB(neon.D2, z, x, z)
			w.square(z)
			fidelity.add(f, z)
			f.FSUB(neon.D2, r, x, r)
			w.square(r)
			residual.add(f, r)
			g := w.load(below[k])
			f.FSUB(neon.D2, g, g, x)
			h := w.differenceRight(u[k], x)
			gradient.add(f, w.sumOfSquares(g, h))
			norm.add(f, w.sumOfSquares(a, b))
			f.FMUL(neon.D2, g, g, a)
			f.FMUL(neon.D2, h, h, b)
			f.FADD(neon.D2, g, g, h)
			product.add(f, g)
			f.Free(a, b, x, h)
		}
		sums := f.General()
		f.Add(sums, w.sums, w.lane)
		w.add(fidelity.v, sums, sumFidelity)
		w.add(residual.v, sums, sumResidual)
		f.FSQRT(neon.D2, gradient.v, gradient.v)
		w.add(gradient.v, sums, sumVariation)
		blocks++
		w.scale(product.v, norm.v, fmt.Sprintf("within%d", blocks))
		w.add(product.v, sums, sumProduct)
		f.AddConstant(w.lane, w.lane, 8*w.lanes)
		f.AndConstant(w.lane, w.lane, sumBytes-1)
	})
}

// scale emits the multiplication of product by the factor that feasible in package
// tvrow returns, where the reasons are. d is ‖p‖².
func (w *wide) scale(product, d neon.V, within string) {
	f := w.f
	f.FMUL(neon.D2, d, d, w.inverse)
	t, factor, mask := f.Vector(), f.Vector(), f.Vector()
	f.FSUB(neon.D2, t, d, w.one)
	f.Zero(factor)
	f.FMAX(neon.D2, t, t, factor)
	f.FMUL(neon.D2, factor, t, w.half)
	f.FSUB(neon.D2, factor, w.one, factor)
	f.FCMGT(neon.D2, mask, t, w.limit)
	beyond := f.General()
	f.XTN(t, mask)
	f.LowBits(beyond, t)
	f.BranchZero(beyond, within)
	f.FSQRT(neon.D2, d, d)
	f.FDIV(neon.D2, d, w.one, d)
	f.BSL(mask, d, factor)
	f.MOV(factor, mask)
	f.Label(within)
	f.FMUL(neon.D2, product, product, factor)
	f.Free(t, factor, mask)
	f.FreeGeneral(beyond)
}
