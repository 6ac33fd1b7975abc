package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumLanes is how many lanes of float64 a sum has: element i is added to lane
// i mod sumLanes.
const sumLanes = 16

// reduction is a sum over the elements of one array or of two.
type reduction struct {
	name   string
	loop   string // in Go
	arrays int
	// term turns float64 vectors of the arrays into what is added up. It may
	// change x.
	term func(x, y reg.VecVirtual)
}

var reductions = []reduction{
	{"sum", "sumPortable", 1, func(x, _ reg.VecVirtual) {}},
	{"squares", "dotPortable of x with itself", 1, func(x, _ reg.VecVirtual) { VMULPD(x, x, x) }},
	{"dot", "dotPortable", 2, func(x, y reg.VecVirtual) { VMULPD(y, x, x) }},
	{"distance", "distancePortable", 2, func(x, y reg.VecVirtual) {
		VSUBPD(y, x, x)
		VMULPD(x, x, x)
	}},
}

// reduce emits a reduction. An element that is absent is 0 in every array, and its
// term is +0, which changes no lane: none is −0.
func reduce(s set, r reduction) {
	signature := "func(x *float32, n int, sums *[16]float64)"
	if r.arrays == 2 {
		signature = "func(x, y *float32, n int, sums *[16]float64)"
	}
	begin(s, r.name, signature, r.loop)
	x, n, memory := pointer("x"), pointer("n"), pointer("sums")
	y := x
	if r.arrays == 2 {
		y = pointer("y")
	}
	sums := make([]reg.VecVirtual, s.wides())
	lane := func(k int) Mem { return Mem{Base: memory, Disp: 8 * sumLanes / s.wides() * k} }
	for k := range sums {
		sums[k] = s.vector()
		VMOVUPD(lane(k), sums[k])
	}
	add := func(load func(Mem, int) reg.VecVirtual, at func(reg.Register) Mem) {
		for k := range sums {
			v := load(at(x), k)
			var w reg.VecVirtual
			if r.arrays == 2 {
				w = load(at(y), k)
			}
			r.term(v, w)
			VADDPD(v, sums[k], sums[k])
		}
	}
	along(n, sumLanes,
		func(at func(reg.Register) Mem) { add(s.loadWide, at) },
		func(at func(reg.Register) Mem) {
			s.rest(n)
			add(s.loadRest, at)
			for k := range sums {
				VMOVUPD(sums[k], lane(k))
			}
		})
}
