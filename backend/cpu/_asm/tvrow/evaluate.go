package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The sums of evaluate have eight lanes of float64, column j in lane j mod 8.
const sumLanes = 8

// The places of the sums.
const (
	sumFidelity = sumLanes * 8 * iota
	sumVariation
	sumResidual
	sumProduct
	sums = iota
)

// feasible holds the constants of feasible.
type feasible struct{ one, half, limit Mem }

func newFeasible() feasible {
	return feasible{one: ConstData("one", F64(1)), half: ConstData("half", F64(0.5)), limit: ConstData("limit", F64(1e-5))}
}

// evaluated are the pointers of an evaluation. Rows above are at a distance of
// their own, so that a row of zeros can stand for them.
type evaluated struct {
	above, p, u, below, y reg.Register
	n                     reg.Register
	ofP, ofAbove          planes
	sums, inverse         reg.Register
}

func newEvaluated(suffix string, channels int) *evaluated {
	name := fmt.Sprintf("evaluate%d%s", channels, suffix)
	TEXT(name, NOSPLIT, "func(above, p, u, below, y *float32, width, plane, distance int, inverse *float64, sums *[4][8]float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is evaluatePortable for %d channels.", name, channels))
	return &evaluated{
		above: pointer("above"), p: pointer("p"), u: pointer("u"), below: pointer("below"), y: pointer("y"),
		n:   Load(Param("width"), GP64()),
		ofP: newPlanes("plane", 2*channels), ofAbove: newPlanes("distance", channels),
		sums: pointer("sums"), inverse: pointer("inverse"),
	}
}

func (e *evaluated) pointers() []reg.Register {
	return []reg.Register{e.above, e.p, e.u, e.below, e.y}
}

// wide is what evaluate needs of an instruction set on vectors of float64.
type wide interface {
	vector() reg.VecVirtual
	load(m Mem) reg.VecVirtual
	loadLeft(m Mem) reg.VecVirtual
	loadRight(m Mem) reg.VecVirtual
	// clearRight sets v to 0 in the row's last column.
	clearRight(v reg.VecVirtual)
	broadcast(m Mem) reg.VecVirtual
	// add adds v to the sum at a place.
	add(v reg.VecVirtual, place int)
	// scaleBeyond sets f to 1/√d in the lanes where t is over the limit.
	scaleBeyond(t, d, f reg.VecVirtual, limits feasible)
}

// columns emits the evaluation of one vector of columns.
func columns(w wide, e *evaluated, limits feasible, channels int) {
	var fidelity, residual, gradient, norm, product reg.VecVirtual
	gather := func(sum *reg.VecVirtual, v reg.VecVirtual) {
		if *sum == nil {
			*sum = v
		} else {
			VADDPD(v, *sum, *sum)
		}
	}
	square := func(v reg.VecVirtual) reg.VecVirtual {
		s := w.vector()
		VMULPD(v, v, s)
		return s
	}
	for k := range channels {
		z := w.load(e.ofP.at(e.y, k))
		a := w.load(e.ofP.at(e.p, 2*k))
		right := e.ofP.at(e.p, 2*k+1)
		b := w.load(right)
		r, t := w.vector(), w.vector()
		VADDPD(a, z, r)
		VSUBPD(w.loadLeft(right), b, t)
		VADDPD(t, r, r)
		VSUBPD(w.load(e.ofAbove.at(e.above, k)), r, r)
		row := e.ofP.at(e.u, k)
		x := w.load(row)
		VSUBPD(z, x, z)
		gather(&fidelity, square(z))
		VSUBPD(r, x, r)
		gather(&residual, square(r))
		g := w.load(e.ofP.at(e.below, k))
		VSUBPD(x, g, g)
		h := w.loadRight(row)
		VSUBPD(x, h, h)
		w.clearRight(h)
		squares := square(g)
		VADDPD(square(h), squares, squares)
		gather(&gradient, squares)
		squares = square(a)
		VADDPD(square(b), squares, squares)
		gather(&norm, squares)
		VMULPD(a, g, g)
		VMULPD(b, h, h)
		VADDPD(h, g, g)
		gather(&product, g)
	}
	w.add(fidelity, sumFidelity)
	w.add(residual, sumResidual)
	VSQRTPD(gradient, gradient)
	w.add(gradient, sumVariation)

	// The factor of feasible in package tvrow, where the reasons are.
	VMULPD(w.broadcast(Mem{Base: e.inverse}), norm, norm)
	one := w.broadcast(limits.one)
	t, f := w.vector(), w.vector()
	VSUBPD(one, norm, t)
	VXORPD(f, f, f)
	VMAXPD(t, f, t) // t where it is not a number
	VMULPD(w.broadcast(limits.half), t, f)
	VSUBPD(f, one, f)
	w.scaleBeyond(t, norm, f, limits)
	VMULPD(f, product, product)
	w.add(product, sumProduct)
}

// wide512 has the sums in registers.
type wide512 struct {
	*avx512
	sums  [sums]reg.VecVirtual
	label int
}

func (w *wide512) load(m Mem) reg.VecVirtual {
	v := ZMM()
	if w.inLast {
		VCVTPS2PD_Z(m, w.columns, v)
	} else {
		VCVTPS2PD(m, v)
	}
	return v
}

func (w *wide512) loadLeft(m Mem) reg.VecVirtual {
	v, k := ZMM(), w.first
	if w.inLast {
		k = w.left
	}
	VCVTPS2PD_Z(m.Offset(-4), k, v)
	return v
}

func (w *wide512) loadRight(m Mem) reg.VecVirtual {
	v := ZMM()
	if w.inLast {
		VCVTPS2PD_Z(m.Offset(4), w.right, v)
	} else {
		VCVTPS2PD(m.Offset(4), v)
	}
	return v
}

func (w *wide512) clearRight(v reg.VecVirtual) {
	if w.inLast {
		VMOVUPD_Z(v, w.right, v)
	}
}

func (w *wide512) broadcast(m Mem) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSD(m, v)
	return v
}

func (w *wide512) add(v reg.VecVirtual, place int) {
	s := w.sums[place/(8*sumLanes)]
	VADDPD(v, s, s)
}

func (w *wide512) scaleBeyond(t, d, f reg.VecVirtual, limits feasible) {
	beyond := K()
	VCMPPD(U8(0x1e), w.broadcast(limits.limit), t, beyond)
	KORTESTW(beyond, beyond)
	w.label++
	within := fmt.Sprintf("within%d", w.label)
	JZ(LabelRef(within))
	root := ZMM()
	VSQRTPD(d, root)
	VDIVPD(root, w.broadcast(limits.one), beyond, f)
	Label(within)
}

func evaluateAVX512(s *avx512, limits feasible, channels int) {
	e := newEvaluated(s.suffix(), channels)
	w := &wide512{avx512: s}
	s.begin(true)
	for i := range w.sums {
		w.sums[i] = ZMM()
		VMOVUPD(Mem{Base: e.sums, Disp: 8 * sumLanes * i}, w.sums[i])
	}
	along(e.n, sumLanes, e.pointers(), func() {
		columns(w, e, limits, channels)
		s.moved()
	}, func() {
		s.last(e.n)
		columns(w, e, limits, channels)
		for i, v := range w.sums {
			VMOVUPD(v, Mem{Base: e.sums, Disp: 8 * sumLanes * i})
		}
		s.done()
	})
}

// wideAVX2 works on half of the lanes of a sum at a time, and has the sums in
// memory.
type wideAVX2 struct {
	*avx2
	evaluated *evaluated
	half      int // 0 for lanes 0 to 3, 1 for lanes 4 to 7
	label     int
}

// at moves an address to the half.
func (w *wideAVX2) at(m Mem) Mem { return m.Offset(16 * w.half) }

// masked loads four floats, those of the mask if there is one, as float64.
func (w *wideAVX2) masked(m Mem, mask reg.VecVirtual) reg.VecVirtual {
	v := YMM()
	if mask == nil {
		VCVTPS2PD(m, v)
		return v
	}
	narrow := XMM()
	VMASKMOVPS(m, mask.(reg.Vec).AsX(), narrow)
	VCVTPS2PD(narrow, v)
	return v
}

func (w *wideAVX2) load(m Mem) reg.VecVirtual {
	if w.inLast {
		return w.masked(w.at(m), w.columns)
	}
	return w.masked(w.at(m), nil)
}

func (w *wideAVX2) loadLeft(m Mem) reg.VecVirtual {
	if w.inLast || w.half == 0 {
		return w.masked(w.at(m).Offset(-4), w.left)
	}
	return w.masked(w.at(m).Offset(-4), nil)
}

func (w *wideAVX2) loadRight(m Mem) reg.VecVirtual {
	if w.inLast {
		return w.masked(w.at(m).Offset(4), w.rightLanes())
	}
	return w.masked(w.at(m).Offset(4), nil)
}

func (w *wideAVX2) clearRight(v reg.VecVirtual) {
	if w.inLast {
		mask := YMM()
		VPMOVSXDQ(Mem{Base: w.address, Disp: 4}, mask)
		VANDPD(mask, v, v)
	}
}

func (w *wideAVX2) broadcast(m Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTSD(m, v)
	return v
}

func (w *wideAVX2) add(v reg.VecVirtual, place int) {
	m := Mem{Base: w.evaluated.sums, Disp: place + 32*w.half}
	VADDPD(m, v, v)
	VMOVUPD(v, m)
}

func (w *wideAVX2) scaleBeyond(t, d, f reg.VecVirtual, limits feasible) {
	beyond := YMM()
	VCMPPD(U8(0x1e), w.broadcast(limits.limit), t, beyond)
	VTESTPD(beyond, beyond)
	w.label++
	within := fmt.Sprintf("within%d", w.label)
	JZ(LabelRef(within))
	root := YMM()
	VSQRTPD(d, root)
	VDIVPD(root, w.broadcast(limits.one), root)
	VBLENDVPD(beyond, root, f, f)
	Label(within)
}

func evaluateAVX2(s *avx2, limits feasible, channels int) {
	e := newEvaluated(s.suffix(), channels)
	w := &wideAVX2{avx2: s, evaluated: e}
	s.begin(true)
	along(e.n, sumLanes, e.pointers(), func() {
		w.half = 0
		columns(w, e, limits, channels)
		w.half = 1
		columns(w, e, limits, channels)
		s.moved()
	}, func() {
		w.half = 0
		CMPQ(e.n, U8(sumLanes/2))
		JLE(LabelRef("lower"))
		columns(w, e, limits, channels)
		for _, p := range e.pointers() {
			ADDQ(U8(4*sumLanes/2), p)
		}
		SUBQ(U8(sumLanes/2), e.n)
		ADDQ(U8(8*sumLanes/2), e.sums)
		s.moved()
		Label("lower")
		s.last(e.n)
		columns(w, e, limits, channels)
		s.done()
	})
}
