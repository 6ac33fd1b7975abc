package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// numbers are those of a step, each in all lanes of a register, in the order of
// the fields of tvrow.Step.
type numbers struct {
	primal, extrapolation, dual, radius, least neon.V
}

func newNumbers(f *neon.Function) numbers {
	var n numbers
	step := f.Parameter("step")
	for i, v := range []*neon.V{&n.primal, &n.extrapolation, &n.dual, &n.radius, &n.least} {
		if i > 0 {
			f.AddConstant(step, step, 4)
		}
		*v = f.Vector()
		f.LD1R(neon.S4, *v, step)
	}
	f.FreeGeneral(step)
	return n
}

// descend emits the primal half of a step and returns the extrapolated values.
// above is already loaded.
func descend(c *columns, n numbers, above, carry neon.V, down, right, u, y neon.R) (ubar neon.V) {
	f := c.f
	r := c.load(down)
	f.FSUB(neon.S4, r, r, above)
	z := c.load(y)
	f.FADD(neon.S4, r, z, r)
	q := c.load(right)
	left := c.shiftIn(neon.S4, carry, q)
	f.FSUB(neon.S4, q, q, left)
	f.FADD(neon.S4, r, r, q)
	v := c.load(u)
	f.FSUB(neon.S4, z, r, v)
	f.FMUL(neon.S4, z, z, n.primal)
	f.FADD(neon.S4, v, v, z)
	c.store(v, u)
	f.FSUB(neon.S4, r, r, v)
	f.FMUL(neon.S4, r, r, n.extrapolation)
	f.FADD(neon.S4, r, v, r)
	f.Free(z, q, left, v)
	return r
}

// projection gathers the dual variables of the coupled channels of a block.
type projection struct {
	rows []neon.R
	v    []neon.V
	norm neon.V
}

// ascend emits p + step·∇ū for one channel and adds it to a projection. a is the
// direction down, already loaded; in the row's last column there is no next.
func (p *projection) ascend(c *columns, n numbers, a, x, next, below neon.V, down, right neon.R) {
	f := c.f
	first, norm := len(p.v) == 0, f.Vector()
	f.FSUB(neon.S4, below, below, x)
	f.FMUL(neon.S4, below, below, n.dual)
	f.FADD(neon.S4, a, a, below)
	f.FMUL(neon.S4, norm, a, a)
	p.rows, p.v = append(p.rows, down), append(p.v, a)
	if !c.last {
		f.FSUB(neon.S4, next, next, x)
		f.FMUL(neon.S4, next, next, n.dual)
		b := c.load(right)
		f.FADD(neon.S4, b, b, next)
		f.FMUL(neon.S4, next, b, b)
		f.FADD(neon.S4, norm, norm, next)
		p.rows, p.v = append(p.rows, right), append(p.v, b)
		f.Free(next)
	}
	f.Free(x, below)
	if first {
		p.norm = norm
		return
	}
	f.FADD(neon.S4, p.norm, p.norm, norm)
	f.Free(norm)
}

// finish emits the factor radius/√max(norm, least), where the maximum is that of
// the bits, so that NaN is the largest, and the scaling and storing of the dual
// variables.
func (p *projection) finish(c *columns, n numbers) {
	f := c.f
	f.UMAX(p.norm, p.norm, n.least)
	f.FSQRT(neon.S4, p.norm, p.norm)
	f.FDIV(neon.S4, p.norm, n.radius, p.norm)
	for i, v := range p.v {
		f.FMUL(neon.S4, v, v, p.norm)
		c.store(v, p.rows[i])
	}
}

// primal emits the primal half of a step on a row of one channel.
func primal(p *neon.Program) {
	f := p.Function("primalNEON",
		"func(above, down, right, u, y, ubar *float32, width int, step *[5]float32)",
		"primalNEON is primalPortable.")
	c := newColumns(f)
	above, down, right := c.end("above"), c.end("down"), c.end("right")
	u, y, ubar := c.end("u"), c.end("y"), c.end("ubar")
	n := newNumbers(f)
	carry := carries(f, 1)[0]
	c.along(4, func() {
		c.store(descend(c, n, c.load(above), carry, down, right, u, y), ubar)
	})
}

// dual emits the dual half of a step on a row of coupled channels.
func dual(p *neon.Program, channels int) {
	name := fmt.Sprintf("dual%dNEON", channels)
	f := p.Function(name,
		"func(p, ubar, below *float32, width, plane, stride int, step *[5]float32)",
		fmt.Sprintf("%s is dualPortable for %d channels.", name, channels))
	c := newColumns(f)
	rows := c.ends("p", "plane", 2*channels)
	ubar, below := c.ends("ubar", "stride", channels), c.ends("below", "stride", channels)
	n := newNumbers(f)
	c.along(4, func() {
		var p projection
		for k := range channels {
			a, x := c.load(rows[2*k]), c.load(ubar[k])
			p.ascend(c, n, a, x, next(c, ubar[k]), c.load(below[k]), rows[2*k], rows[2*k+1])
		}
		p.finish(c, n)
	})
}

// next returns what stands one to the right of the block's columns, and nothing
// for the row's last column.
func next(c *columns, row neon.R) neon.V {
	if c.last {
		return 0
	}
	return c.loadRight(row)
}

// sweep emits the primal half of a step on row i+1 and the dual half on row i.
func sweep(p *neon.Program, channels int) {
	name := fmt.Sprintf("sweep%dNEON", channels)
	f := p.Function(name,
		"func(p, u, y, ubar *float32, width, plane, stride int, step *[5]float32)",
		fmt.Sprintf("%s is sweepPortable for %d channels.", name, channels))
	c := newColumns(f)
	rows := c.ends("p", "plane", 2*channels)
	var below []neon.R // row i+1 of p, which begins where row i ends
	for _, r := range rows {
		b := f.General()
		f.Add(b, r, c.width)
		below = append(below, b)
	}
	u, y := c.ends("u", "plane", channels), c.ends("y", "plane", channels)
	ubar := c.ends("ubar", "stride", channels)
	n := newNumbers(f)
	carry := carries(f, channels)
	c.along(4, func() {
		var p projection
		for k := range channels {
			a := c.load(rows[2*k])
			v := descend(c, n, a, carry[k], below[2*k], below[2*k+1], u[k], y[k])
			x, right := c.load(ubar[k]), next(c, ubar[k])
			c.store(v, ubar[k])
			p.ascend(c, n, a, x, right, v, rows[2*k], rows[2*k+1])
		}
		p.finish(c, n)
	})
}
