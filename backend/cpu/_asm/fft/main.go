// Command fft writes the assembly of package internal/fft, the stages of a transform for AVX2 and
// AVX-512, and its Go declarations.
//
// Every kernel makes the operations of its portable loop, in the same order and with the same
// roundings: products are rounded before they are added. So all instruction sets give the same bits.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A record is 16 real parts and 16 imaginary ones.
const (
	lanes      = 16
	recordSize = 2 * 4 * lanes
)

func main() {
	ConstraintExpr("!noasm")
	c := newConstants()
	for _, s := range []set{&avx2{}, &avx512{}} {
		for _, radix := range []int{2, 3, 4, 5} {
			for _, inverse := range []bool{false, true} {
				stage(s, c, radix, inverse)
			}
		}
		for _, conjugate := range []bool{false, true} {
			multiply(s, conjugate)
		}
		interleave(s)
		deinterleave(s)
		separate(s)
		combine(s)
	}
	Generate()
}

// constants are the numbers of the butterflies, as many times as a vector has lanes.
type constants struct{ half, sin3, cos51, cos52, sin51, sin52 Mem }

func newConstants() constants {
	number := func(name string, v float32) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range lanes {
			DATA(4*i, F32(v))
		}
		return m
	}
	return constants{
		half: number("half", .5), sin3: number("sin3", 0.866025403784438646763723170752936183),
		cos51: number("cos51", 0.309016994374947424102293417182819059),
		cos52: number("cos52", -0.809016994374947424102293417182819059),
		sin51: number("sin51", 0.951056516295153572116439333379382143),
		sin52: number("sin52", 0.587785252292473129168705954639072769),
	}
}

// set is an instruction set on vectors of float32.
type set interface {
	suffix() string
	vector() reg.VecVirtual
	// size is that of a vector, in bytes.
	size() int
	broadcast(m Mem) reg.VecVirtual
}

type avx512 struct{}

func (*avx512) suffix() string         { return "AVX512" }
func (*avx512) vector() reg.VecVirtual { return ZMM() }
func (*avx512) size() int              { return 64 }
func (*avx512) broadcast(m Mem) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSS(m, v)
	return v
}

type avx2 struct{}

func (*avx2) suffix() string         { return "AVX2" }
func (*avx2) vector() reg.VecVirtual { return YMM() }
func (*avx2) size() int              { return 32 }
func (*avx2) broadcast(m Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTSS(m, v)
	return v
}

// complexes are a vector of complex numbers.
type complexes struct{ re, im reg.VecVirtual }

// arithmetic is that of complex vectors; a result is in registers of its own.
type arithmetic struct{ set }

func (s arithmetic) load(m Mem) complexes {
	v := complexes{s.vector(), s.vector()}
	VMOVUPS(m, v.re)
	VMOVUPS(m.Offset(4*lanes), v.im)
	return v
}

func (s arithmetic) store(v complexes, m Mem) {
	VMOVUPS(v.re, m)
	VMOVUPS(v.im, m.Offset(4*lanes))
}

func (s arithmetic) add(a, b complexes) complexes {
	v := complexes{s.vector(), s.vector()}
	VADDPS(b.re, a.re, v.re)
	VADDPS(b.im, a.im, v.im)
	return v
}

func (s arithmetic) sub(a, b complexes) complexes {
	v := complexes{s.vector(), s.vector()}
	VSUBPS(b.re, a.re, v.re)
	VSUBPS(b.im, a.im, v.im)
	return v
}

// minusI returns a − i·b.
func (s arithmetic) minusI(a, b complexes) complexes {
	v := complexes{s.vector(), s.vector()}
	VADDPS(b.im, a.re, v.re)
	VSUBPS(b.re, a.im, v.im)
	return v
}

// plusI returns a + i·b.
func (s arithmetic) plusI(a, b complexes) complexes {
	v := complexes{s.vector(), s.vector()}
	VSUBPS(b.im, a.re, v.re)
	VADDPS(b.re, a.im, v.im)
	return v
}

// scaled returns a times a constant.
func (s arithmetic) scaled(a complexes, by Mem) complexes {
	v := complexes{s.vector(), s.vector()}
	VMULPS(by, a.re, v.re)
	VMULPS(by, a.im, v.im)
	return v
}

// gather adds a times a constant to sum.
func (s arithmetic) gather(sum, a complexes, by Mem) {
	p := s.vector()
	VMULPS(by, a.re, p)
	VADDPS(p, sum.re, sum.re)
	p = s.vector()
	VMULPS(by, a.im, p)
	VADDPS(p, sum.im, sum.im)
}

// turned returns a times the twiddle at m, or its conjugate.
func (s arithmetic) turned(a complexes, m Mem, conjugate bool) complexes {
	return s.product(a, complexes{s.broadcast(m), s.broadcast(m.Offset(4))}, conjugate)
}

// product returns a·w, or a times the conjugate of w:
//
//	(ar·wr − ai·wi, ar·wi + ai·wr) or (ar·wr + ai·wi, ai·wr − ar·wi).
func (s arithmetic) product(a, w complexes, conjugate bool) complexes {
	v, p := complexes{s.vector(), s.vector()}, s.vector()
	VMULPS(w.re, a.re, v.re)
	VMULPS(w.im, a.im, p)
	if conjugate {
		VADDPS(p, v.re, v.re)
	} else {
		VSUBPS(p, v.re, v.re)
	}
	p = s.vector()
	VMULPS(w.re, a.im, v.im)
	VMULPS(w.im, a.re, p)
	if conjugate {
		VSUBPS(p, v.im, v.im)
	} else {
		VADDPS(p, v.im, v.im)
	}
	return v
}

// stage emits all butterflies of one radix: for each block of radix·m records, m of them, of
// which number p has the twiddles from p on. Where the portable loop leaves out the twiddles of
// p = 0, which are 1, it does so too.
func stage(s set, c constants, radix int, inverse bool) {
	name := fmt.Sprintf("forward%d", radix)
	if inverse {
		name = fmt.Sprintf("inverse%d", radix)
	}
	TEXT(name+s.suffix(), NOSPLIT, "func(x *[32]float32, blocks, m int, twiddle *float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s%s is %sPortable.", name, s.suffix(), name))
	x, blocks := Load(Param("x"), GP64()), Load(Param("blocks"), GP64())
	m, twiddle := Load(Param("m"), GP64()), Load(Param("twiddle"), GP64())

	stride := GP64() // from an element of a butterfly to the next
	MOVQ(m, stride)
	SHLQ(U8(7), stride)
	rows := []reg.Register{x}
	for range radix - 1 {
		rows = append(rows, GP64())
	}
	left, w := GP64(), GP64()
	Label("block")
	for k := 1; k < radix; k++ {
		MOVQ(rows[k-1], rows[k])
		ADDQ(stride, rows[k].(reg.GPVirtual))
	}
	MOVQ(m, left)
	MOVQ(twiddle, w)
	a := arithmetic{s}
	butterfly := func(one bool) {
		for at := 0; at < 4*lanes; at += s.size() {
			element := func(k int) Mem { return Mem{Base: rows[k], Disp: at} }
			turn := func(k int, v complexes) complexes {
				if one {
					return v
				}
				return a.turned(v, Mem{Base: w, Disp: 8 * (k - 1)}, inverse)
			}
			butterflies[radix](a, c, element, turn, inverse)
		}
		for k := range radix {
			ADDQ(U32(recordSize), rows[k].(reg.GPVirtual))
		}
		ADDQ(U8(8*(radix-1)), w)
		DECQ(left)
	}
	if radix == 2 || radix == 4 {
		butterfly(true)
		JZ(LabelRef("next"))
	}
	Label("along")
	butterfly(false)
	JNZ(LabelRef("along"))
	Label("next")
	MOVQ(rows[radix-1], x.(reg.GPVirtual))
	DECQ(blocks.(reg.GPVirtual))
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// butterflies emit one butterfly of a radix. Forward the results but the first are turned,
// inverse the elements.
var butterflies = map[int]func(a arithmetic, c constants, element func(int) Mem, turn func(int, complexes) complexes, inverse bool){
	2: func(a arithmetic, _ constants, element func(int) Mem, turn func(int, complexes) complexes, inverse bool) {
		y := a.load(element(1))
		if inverse {
			y = turn(1, y)
		}
		x := a.load(element(0))
		a.store(a.add(x, y), element(0))
		d := a.sub(x, y)
		if !inverse {
			d = turn(1, d)
		}
		a.store(d, element(1))
	},
	3: func(a arithmetic, c constants, element func(int) Mem, turn func(int, complexes) complexes, inverse bool) {
		y, z := a.load(element(1)), a.load(element(2))
		if inverse {
			y, z = turn(1, y), turn(2, z)
		}
		sum, d := a.add(y, z), a.scaled(a.sub(y, z), c.sin3)
		x := a.load(element(0))
		t := a.sub(x, a.scaled(sum, c.half))
		a.store(a.add(x, sum), element(0))
		if inverse {
			a.store(a.plusI(t, d), element(1))
			a.store(a.minusI(t, d), element(2))
			return
		}
		a.store(turn(1, a.minusI(t, d)), element(1))
		a.store(turn(2, a.plusI(t, d)), element(2))
	},
	4: func(a arithmetic, _ constants, element func(int) Mem, turn func(int, complexes) complexes, inverse bool) {
		z := a.load(element(2))
		if inverse {
			z = turn(2, z)
		}
		x := a.load(element(0))
		s, t := a.add(x, z), a.sub(x, z)
		y, last := a.load(element(1)), a.load(element(3))
		if inverse {
			y, last = turn(1, y), turn(3, last)
		}
		u, v := a.add(y, last), a.sub(y, last)
		a.store(a.add(s, u), element(0))
		if inverse {
			a.store(a.plusI(t, v), element(1))
			a.store(a.sub(s, u), element(2))
			a.store(a.minusI(t, v), element(3))
			return
		}
		a.store(turn(2, a.sub(s, u)), element(2))
		a.store(turn(1, a.minusI(t, v)), element(1))
		a.store(turn(3, a.plusI(t, v)), element(3))
	},
	5: func(a arithmetic, c constants, element func(int) Mem, turn func(int, complexes) complexes, inverse bool) {
		pair := func(j, k int) (sum, difference complexes) {
			y, z := a.load(element(j)), a.load(element(k))
			if inverse {
				y, z = turn(j, y), turn(k, z)
			}
			return a.add(y, z), a.sub(y, z)
		}
		s, u := pair(1, 4)
		t, v := pair(2, 3)
		x := a.load(element(0))
		a.store(a.add(a.add(x, s), t), element(0))
		// x + cos·s + cos·t
		mixed := func(ofS, ofT Mem) complexes {
			p := a.add(x, a.scaled(s, ofS))
			a.gather(p, t, ofT)
			return p
		}
		p, q := mixed(c.cos51, c.cos52), mixed(c.cos52, c.cos51)
		g := a.scaled(u, c.sin51)
		a.gather(g, v, c.sin52)
		h := a.sub(a.scaled(u, c.sin52), a.scaled(v, c.sin51))
		put := func(k int, v complexes) {
			if !inverse {
				v = turn(k, v)
			}
			a.store(v, element(k))
		}
		if inverse {
			put(1, a.plusI(p, g))
			put(2, a.plusI(q, h))
			put(3, a.minusI(q, h))
			put(4, a.minusI(p, g))
			return
		}
		put(1, a.minusI(p, g))
		put(2, a.minusI(q, h))
		put(3, a.plusI(q, h))
		put(4, a.plusI(p, g))
	},
}

// multiply emits the product of n records, at least 1, with those of a filter or their conjugates.
func multiply(s set, conjugate bool) {
	name := "multiply"
	if conjugate {
		name = "multiplyConjugate"
	}
	TEXT(name+s.suffix(), NOSPLIT, "func(x, filter *[32]float32, n int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s%s is %sPortable.", name, s.suffix(), name))
	x, filter := Load(Param("x"), GP64()), Load(Param("filter"), GP64())
	n := Load(Param("n"), GP64())
	a := arithmetic{s}
	Label("along")
	for at := 0; at < 4*lanes; at += s.size() {
		m := Mem{Base: x, Disp: at}
		a.store(a.product(a.load(m), a.load(Mem{Base: filter, Disp: at}), conjugate), m)
	}
	ADDQ(U32(recordSize), x.(reg.GPVirtual))
	ADDQ(U32(recordSize), filter.(reg.GPVirtual))
	DECQ(n.(reg.GPVirtual))
	JNZ(LabelRef("along"))
	VZEROUPPER()
	RET()
}
