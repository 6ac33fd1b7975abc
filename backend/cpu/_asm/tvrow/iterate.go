package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// numbers are those of a step, in registers where there are enough.
type numbers struct {
	set    set
	step   reg.Register
	loaded map[int]reg.VecVirtual
}

func newNumbers(s set, channels int, which ...int) *numbers {
	c := &numbers{set: s, step: pointer("step"), loaded: map[int]reg.VecVirtual{}}
	if s.keep(channels) {
		for _, i := range which {
			c.loaded[i] = c.get(i)
		}
	}
	return c
}

func (c *numbers) get(i int) reg.VecVirtual {
	if v, ok := c.loaded[i]; ok {
		return v
	}
	v := c.set.vector()
	VBROADCASTSS(Mem{Base: c.step, Disp: i}, v)
	return v
}

// descend emits the primal half of a step and returns the extrapolated values.
// above is already loaded.
func descend(s set, c *numbers, above reg.VecVirtual, down, right, u, y Mem) (ubar reg.VecVirtual) {
	r := s.load(down)
	VSUBPS(above, r, r)
	VADDPS(s.load(y), r, r)
	q := s.load(right)
	VSUBPS(s.loadLeft(right), q, q)
	VADDPS(q, r, r)
	v := s.load(u)
	t := s.vector()
	VSUBPS(v, r, t)
	VMULPS(c.get(stepPrimal), t, t)
	VADDPS(t, v, v)
	s.store(v, u)
	VSUBPS(v, r, r)
	VMULPS(c.get(stepExtrapolation), r, r)
	VADDPS(v, r, r)
	return r
}

// ascend emits p + step·∇ū for one channel and returns it, with its squared norm.
// down is already loaded.
func ascend(s set, c *numbers, a, x, next, below reg.VecVirtual, right Mem) (b, norm reg.VecVirtual) {
	dual := c.get(stepDual)
	t := s.vector()
	VSUBPS(x, below, t)
	VMULPS(dual, t, t)
	VADDPS(t, a, a)
	VSUBPS(x, next, t)
	VMULPS(dual, t, t)
	b = s.loadAllButLast(right)
	VADDPS(t, b, b)
	norm = s.vector()
	VMULPS(a, a, norm)
	VADDPS(s.squareRight(b), norm, norm)
	return b, norm
}

// shrink emits radius/√max(norm, least). The maximum is that of the bits, so that
// NaN is the largest.
func shrink(s set, c *numbers, norm reg.VecVirtual) {
	VPMAXUD(c.get(stepMin), norm, norm)
	VSQRTPS(norm, norm)
	VDIVPS(norm, c.get(stepRadius), norm)
}

// project emits the scaling and storing of the dual rows of all channels.
func project(s set, c *numbers, at planes, p reg.Register, a, b []reg.VecVirtual, norm reg.VecVirtual) {
	shrink(s, c, norm)
	for k := range a {
		VMULPS(norm, a[k], a[k])
		s.store(a[k], at.at(p, 2*k))
		VMULPS(norm, b[k], b[k])
		s.storeRight(b[k], at.at(p, 2*k+1))
	}
}

// primal emits the primal half of a step on a row of one channel.
func primal(s set) {
	TEXT("primal"+s.suffix(), NOSPLIT, "func(above, down, right, u, y, ubar *float32, width int, step *[5]float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("primal%s is primalPortable.", s.suffix()))
	above, down, right := pointer("above"), pointer("down"), pointer("right")
	u, y, ubar := pointer("u"), pointer("y"), pointer("ubar")
	n := Load(Param("width"), GP64())
	c := newNumbers(s, 1, stepPrimal, stepExtrapolation)
	s.begin(true)
	block := func() {
		a := s.load(Mem{Base: above})
		s.store(descend(s, c, a, Mem{Base: down}, Mem{Base: right}, Mem{Base: u}, Mem{Base: y}), Mem{Base: ubar})
	}
	along(n, s.lanes(), []reg.Register{above, down, right, u, y, ubar}, func() {
		block()
		s.moved()
	}, func() {
		s.last(n)
		block()
		s.done()
	})
}

// dual emits the dual half of a step on a row of coupled channels.
func dual(s set, channels int) {
	name := fmt.Sprintf("dual%d%s", channels, s.suffix())
	TEXT(name, NOSPLIT, "func(p, ubar, below *float32, width, plane, stride int, step *[5]float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is dualPortable for %d channels.", name, channels))
	p, ubar, below := pointer("p"), pointer("ubar"), pointer("below")
	n := Load(Param("width"), GP64())
	ofP, ofRows := newPlanes("plane", 2*channels), newPlanes("stride", channels)
	c := newNumbers(s, channels, stepDual, stepRadius, stepMin)
	s.begin(false)
	block := func() {
		var a, b []reg.VecVirtual
		var norm reg.VecVirtual
		for k := range channels {
			x := s.load(ofRows.at(ubar, k))
			ak := s.load(ofP.at(p, 2*k))
			bk, nk := ascend(s, c, ak, x, s.loadRight(ofRows.at(ubar, k)), s.load(ofRows.at(below, k)), ofP.at(p, 2*k+1))
			a, b = append(a, ak), append(b, bk)
			if k == 0 {
				norm = nk
			} else {
				VADDPS(nk, norm, norm)
			}
		}
		project(s, c, ofP, p, a, b, norm)
	}
	along(n, s.lanes(), []reg.Register{p, ubar, below}, block, func() {
		s.last(n)
		block()
		s.done()
	})
}

// sweep emits the primal half of a step on row i+1 and the dual half on row i.
func sweep(s set, channels int) {
	name := fmt.Sprintf("sweep%d%s", channels, s.suffix())
	TEXT(name, NOSPLIT, "func(p, u, y, ubar *float32, width, plane, stride int, step *[5]float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is sweepPortable for %d channels.", name, channels))
	p, u, y, ubar := pointer("p"), pointer("u"), pointer("y"), pointer("ubar")
	n := Load(Param("width"), GP64())
	next := GP64() // row i+1 of p
	LEAQ(Mem{Base: p, Index: n, Scale: 4}, next)
	ofP := newPlanes("plane", 2*channels)
	ofRows := newPlanes("stride", channels)
	c := newNumbers(s, channels, stepPrimal, stepExtrapolation, stepDual, stepRadius, stepMin)
	s.begin(true)
	block := func() {
		var a, b []reg.VecVirtual
		var norm reg.VecVirtual
		for k := range channels {
			ak := s.load(ofP.at(p, 2*k))
			below := descend(s, c, ak, ofP.at(next, 2*k), ofP.at(next, 2*k+1), ofP.at(u, k), ofP.at(y, k))
			row := ofRows.at(ubar, k)
			x := s.load(row)
			right := s.loadRight(row)
			s.store(below, row)
			bk, nk := ascend(s, c, ak, x, right, below, ofP.at(p, 2*k+1))
			a, b = append(a, ak), append(b, bk)
			if k == 0 {
				norm = nk
			} else {
				VADDPS(nk, norm, norm)
			}
		}
		project(s, c, ofP, p, a, b, norm)
	}
	along(n, s.lanes(), []reg.Register{p, next, u, y, ubar}, func() {
		block()
		s.moved()
	}, func() {
		s.last(n)
		block()
		s.done()
	})
}
