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
	m, u, out := argument("m"), argument("u"), argument("out")
	vTile, mTile, uRow := distance("vTile"), distance("mTile"), distance("uRow")
	for i, columns := range s.columns {
		width := columns * s.lanes
		Label(fmt.Sprintf("columns%d", columns))
		CMPQ(out, U8(width))
		if i == len(s.columns)-1 {
			JLT(LabelRef("done"))
		} else {
			JLT(LabelRef(fmt.Sprintf("columns%d", s.columns[i+1])))
		}
		over := product{s, columns, vTile, mTile, uRow, u}
		over.allTiles(m)
		ADDQ(U32(4*width), m)
		ADDQ(U32(4*width), u)
		SUBQ(U8(width), out)
		JMP(LabelRef(fmt.Sprintf("columns%d", columns)))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// product is the product for some columns of u.
type product struct {
	s                     *set
	columns               int
	vTile, mTile, uRow, u reg.GPVirtual
}

// allTiles goes down the tiles in full blocks, and then takes what is left.
func (p product) allTiles(m reg.GPVirtual) {
	name := func(s string, n int) string { return fmt.Sprintf("%s%d_%d", s, p.columns, n) }
	v, to := argument("v"), GP64()
	MOVQ(m, to)
	tiles := argument("tiles")
	full := p.s.tiles
	CMPQ(tiles, U8(full))
	JLT(LabelRef(name("rest", full)))
	Label(name("tiles", full))
	p.tilesAt(v, to, full)
	p.move(v, p.vTile, full)
	p.move(to, p.mTile, full)
	SUBQ(U8(full), tiles)
	CMPQ(tiles, U8(full))
	JGE(LabelRef(name("tiles", full)))
	Label(name("rest", full))
	for n := full - 1; n > 0; n-- {
		CMPQ(tiles, U8(n))
		JNE(LabelRef(name("not", n)))
		p.tilesAt(v, to, n)
		JMP(LabelRef(name("end", 0)))
		Label(name("not", n))
	}
	Label(name("end", 0))
}

// move adds n·stride to a pointer.
func (p product) move(pointer, stride reg.GPVirtual, n int) {
	by := GP64()
	IMUL3Q(U8(n), stride, by)
	ADDQ(by, pointer)
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
