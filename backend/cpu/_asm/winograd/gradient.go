package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// values is Ay: what a row or column of outputs gives at the points, which is the
// transpose of evaluate. 18 operations.
func (s *set) values(y [tile]reg.VecVirtual, out func(k int, v reg.VecVirtual)) {
	out(0, y[0])
	out(patch-1, y[5])
	even, odd := s.add(y[0], y[2]), s.add(y[1], y[3])
	VADDPS(y[4], even, even)
	VADDPS(y[5], odd, odd)
	plus, minus := s.plusMinus(even, 1, odd)
	out(1, plus)
	out(2, minus)
	// At ±p the odd part is p·(y₁ + p²y₃ + p⁴y₅).
	for k, p := range []float32{2, 0.5} {
		even, odd := s.vector(), s.vector()
		VMOVAPS(y[0], even)
		VMOVAPS(y[1], odd)
		s.accumulate(even, p*p, y[2])
		s.accumulate(odd, p*p, y[3])
		s.accumulate(even, p*p*p*p, y[4])
		s.accumulate(odd, p*p*p*p, y[5])
		plus, minus := s.plusMinus(even, p, odd)
		out(3+2*k, plus)
		out(4+2*k, minus)
	}
}

// spread transforms the outputs' gradients, rows first.
func spread(s *set) {
	TEXT("spread"+s.suffix, 0, "func(v *float32, point int, src *float32, row, pixel, channels int, scratch *[1024]float32)")
	s.gather(2, 0.5, 4, 16, 0.25, 0.0625)
	v, src, scratch := argument("v"), argument("src"), argument("scratch")
	s.overChannels(func() {
		pixels := newStrides(distance("pixel"))
		from := GP64()
		MOVQ(src, from)
		for y := range tile {
			if y > 0 {
				ADDQ(distance("row"), from)
			}
			var d [tile]reg.VecVirtual
			for k := range d {
				d[k] = s.load(pixels.at(from, k))
			}
			s.values(d, func(k int, value reg.VecVirtual) {
				VMOVUPS(value, Mem{Base: scratch, Disp: (k*patch + y) * s.bytes()})
			})
		}
		point := distance("point")
		to, next := GP64(), GP64()
		MOVQ(v, to)
		MOVQ(point, next)
		SHLQ(U8(3), next)
		points := newStrides(next)
		for k := range patch {
			var d [tile]reg.VecVirtual
			for l := range d {
				d[l] = s.load(Mem{Base: scratch, Disp: (k*patch + l) * s.bytes()})
			}
			s.values(d, func(l int, value reg.VecVirtual) {
				VMOVUPS(value, points.at(to, l))
			})
			ADDQ(point, to)
		}
	}, v, src)
}

// correlate emits the product of matrices of a filter's gradient. Its register block
// is some rows, the input channels, whose numbers stand side by side, times some
// vectors of output channels.
func correlate(s *set) {
	TEXT("correlate"+s.suffix, NOSPLIT, "func(u *float32, uRow int, v *float32, vTile int, p *float32, pTile, tiles, in, out, add int)")
	u, p := argument("u"), argument("p")
	vTile, pTile, uRow := distance("vTile"), distance("pTile"), distance("uRow")
	s.overColumns([]reg.GPVirtual{u, p}, func(columns int) {
		c := correlation{s, columns, vTile, pTile, uRow, p}
		v, to := argument("v"), GP64()
		MOVQ(u, to)
		s.inBlocks(argument("in"), columns, func(n int) { c.rowsAt(v, to, n) }, func() {
			ADDQ(U8(4*s.tiles), v)
			move(to, uRow, s.tiles)
		})
	})
}

// correlation is the product for some columns of p.
type correlation struct {
	s                     *set
	columns               int
	vTile, pTile, uRow, p reg.GPVirtual
}

// rowsAt sets n rows of u, or adds to them.
func (c correlation) rowsAt(v, u reg.GPVirtual, n int) {
	s := c.s
	sums := make([][]reg.VecVirtual, n)
	for r := range sums {
		for range c.columns {
			sum := s.vector()
			sums[r] = append(sums[r], sum)
			VXORPS(sum, sum, sum)
		}
	}
	from, p, tiles, far := GP64(), GP64(), argument("tiles"), GP64()
	if n > 3 {
		LEAQ(Mem{Base: u, Index: c.uRow, Scale: 2}, far)
		ADDQ(c.uRow, far)
	}
	place := func(r, k int) Mem {
		at := tileAt(u, far, c.uRow, r)
		at.Disp = k * s.bytes()
		return at
	}
	// By the time that the sums are there, what they are added to is.
	for r := range n {
		for k := 0; k < c.columns*s.bytes(); k += 64 {
			PREFETCHT0(place(r, k/s.bytes()))
		}
	}
	MOVQ(v, from)
	MOVQ(c.p, p)
	loop := fmt.Sprintf("tiles%d_%d", c.columns, n)
	Label(loop)
	row := make([]reg.VecVirtual, c.columns)
	for k := range row {
		row[k] = s.load(Mem{Base: p, Disp: k * s.bytes()})
	}
	for r := range n {
		value := s.vector()
		VBROADCASTSS(Mem{Base: from, Disp: 4 * r}, value)
		for k := range row {
			VFMADD231PS(row[k], value, sums[r][k])
		}
	}
	ADDQ(c.pTile, p)
	ADDQ(c.vTile, from)
	DECQ(tiles)
	JNZ(LabelRef(loop))
	add, fresh := argument("add"), fmt.Sprintf("fresh%d_%d", c.columns, n)
	TESTQ(add, add)
	JZ(LabelRef(fresh))
	for r := range n {
		for k, sum := range sums[r] {
			VADDPS(place(r, k), sum, sum)
		}
	}
	Label(fresh)
	for r := range n {
		for k, sum := range sums[r] {
			VMOVUPS(sum, place(r, k))
		}
	}
}
