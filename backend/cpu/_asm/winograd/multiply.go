package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// multiply emits a product of matrices. Its register block is s.tiles tiles times
// some vectors of output channels; one input channel takes, for AVX-512 and four
// vectors, 4 loads of weights, 6 broadcasts and 24 multiplications with addition,
// which keep both of the processor's units busy for 12 cycles.
func multiply(s *set) {
	TEXT("multiply"+s.suffix, NOSPLIT, "func(m *float32, mTile int, v *float32, vTile int, u *float32, uRow, tiles, in, out int)")
	m, u := argument("m"), argument("u")
	vTile, mTile, uRow := distance("vTile"), distance("mTile"), distance("uRow")
	s.overColumns([]reg.GPVirtual{m, u}, func(columns int) {
		p := product{s, columns, vTile, mTile, uRow, u}
		v, to := argument("v"), GP64()
		MOVQ(m, to)
		s.inBlocks(argument("tiles"), columns, func(n int) { p.tilesAt(v, to, n) }, func() {
			move(v, vTile, s.tiles)
			move(to, mTile, s.tiles)
		})
	})
}

// product is the product for some columns of u.
type product struct {
	s                     *set
	columns               int
	vTile, mTile, uRow, u reg.GPVirtual
}

// tilesAt multiplies n tiles.
func (p product) tilesAt(v, m reg.GPVirtual, n int) {
	s := p.s
	sums := make([][]reg.VecVirtual, n)
	for t := range sums {
		for range p.columns {
			sum := s.vector()
			sums[t] = append(sums[t], sum)
			VXORPS(sum, sum, sum)
		}
	}
	near, far, u, in := GP64(), GP64(), GP64(), argument("in")
	MOVQ(v, near)
	p.third(v, p.vTile, far, n)
	MOVQ(p.u, u)
	loop := fmt.Sprintf("in%d_%d", p.columns, n)
	Label(loop)
	weights := make([]reg.VecVirtual, p.columns)
	for c := range weights {
		weights[c] = s.load(Mem{Base: u, Disp: c * s.bytes()})
	}
	ADDQ(p.uRow, u)
	for t := range n {
		value := s.vector()
		VBROADCASTSS(tileAt(near, far, p.vTile, t), value)
		for c := range weights {
			VFMADD231PS(weights[c], value, sums[t][c])
		}
	}
	ADDQ(U8(4), near)
	if n > 3 {
		ADDQ(U8(4), far)
	}
	DECQ(in)
	JNZ(LabelRef(loop))
	p.third(m, p.mTile, far, n)
	for t := range n {
		for c, sum := range sums[t] {
			at := tileAt(m, far, p.mTile, t)
			at.Disp = c * s.bytes()
			VMOVUPS(sum, at)
		}
	}
}

// third sets far to the address of tile 3, which tileAt needs for more than three.
func (p product) third(base, stride, far reg.GPVirtual, n int) {
	if n > 3 {
		LEAQ(Mem{Base: base, Index: stride, Scale: 2}, far)
		ADDQ(stride, far)
	}
}

// tileAt addresses tile t < 6.
func tileAt(near, far, stride reg.GPVirtual, t int) Mem {
	base := near
	if t >= 3 {
		base = far
		t -= 3
	}
	if t == 0 {
		return Mem{Base: base}
	}
	return Mem{Base: base, Index: stride, Scale: uint8(t)}
}
