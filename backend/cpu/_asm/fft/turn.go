package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/averaged/imaging/backend/cpu/_asm/square"
)

// begin declares a kernel.
func begin(s set, name, signature string) {
	TEXT(name+s.suffix(), NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + s.suffix() + " is " + name + "Portable.")
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// width is how many numbers a vector has.
func width(s set) int { return s.size() / 4 }

func load(s set, m Mem) reg.VecVirtual {
	v := s.vector()
	VMOVUPS(m, v)
	return v
}

// turned emits the transposition of 16×16 numbers, square by square: row(i, at) returns the vector
// that begins at byte at of row i, and column takes what begins there of column i.
func turned(s set, row func(i, at int) reg.VecVirtual, column func(i, at int, v reg.VecVirtual)) {
	n := width(s)
	for across := 0; across < lanes; across += n {
		for down := 0; down < lanes; down += n {
			rows := make([]reg.VecVirtual, n)
			for i := range rows {
				rows[i] = row(down+i, 4*across)
			}
			for i, v := range square.Transpose(rows) {
				column(across+i, 4*down, v)
			}
		}
	}
}

// interleave emits blocks of 16 samples of 16 rows, a distance of stride apart, into the records of a
// line, or their imaginary parts.
func interleave(s set) {
	begin(s, "interleave", "func(line, rows *float32, stride, blocks int)")
	line, rows, stride, blocks := pointer("line"), pointer("rows"), pointer("stride"), pointer("blocks")
	SHLQ(U8(2), stride)
	at := GP64()
	Label("block")
	turned(s, func(i, from int) reg.VecVirtual {
		if i%width(s) == 0 {
			along(at, rows, stride, i)
		}
		v := load(s, Mem{Base: at, Disp: from})
		ADDQ(stride, at)
		return v
	}, func(i, from int, v reg.VecVirtual) { VMOVUPS(v, Mem{Base: line, Disp: recordSize*i + from}) })
	ADDQ(U8(4*lanes), rows)
	ADDQ(U32(recordSize*lanes), line)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// along sets at to row i.
func along(at, rows, stride reg.GPVirtual, i int) {
	if i == 0 {
		MOVQ(rows, at)
		return
	}
	LEAQ(Mem{Base: rows, Index: stride, Scale: 8}, at) // the only other one is row 8
}

// deinterleave emits the way back.
func deinterleave(s set) {
	begin(s, "deinterleave", "func(rows, line *float32, stride, blocks int)")
	rows, line, stride, blocks := pointer("rows"), pointer("line"), pointer("stride"), pointer("blocks")
	SHLQ(U8(2), stride)
	at := GP64()
	Label("block")
	turned(s, func(i, from int) reg.VecVirtual { return load(s, Mem{Base: line, Disp: recordSize*i + from}) },
		func(i, from int, v reg.VecVirtual) {
			if i%width(s) == 0 {
				along(at, rows, stride, i)
			}
			VMOVUPS(v, Mem{Base: at, Disp: from})
			ADDQ(stride, at)
		})
	ADDQ(U8(4*lanes), rows)
	ADDQ(U32(recordSize*lanes), line)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// The real and imaginary parts of a record, and the second half of a block of 32 records, in bytes.
const (
	re     = 0
	im     = 4 * lanes
	second = lanes * recordSize
)

// separate emits the 16 columns of a group, of the spectra A of 16 rows and B of 16 others, from the
// records Z and C of a line: A = Z + conj C and B = −i·(Z − conj C).
func separate(s set) {
	begin(s, "separate", "func(block, line *[32]float32, places *int)")
	block, line, places := pointer("block"), pointer("line"), pointer("places")
	of := func(k, part int) Mem { // record k of Z, or k−16 of C
		at := GP64()
		MOVQ(Mem{Base: places, Disp: 8 * k}, at)
		return Mem{Base: line, Index: at, Scale: 1, Disp: part}
	}
	sum := func(b Mem, a reg.VecVirtual) { VADDPS(b, a, a) }
	difference := func(b Mem, a reg.VecVirtual) { VSUBPS(b, a, a) }
	for _, p := range []struct {
		first, second, firstPart, secondPart, to int
		op                                       func(b Mem, a reg.VecVirtual)
	}{
		{0, lanes, re, re, re, sum},
		{0, lanes, im, im, im, difference},
		{0, lanes, im, im, second + re, sum},
		{lanes, 0, re, re, second + im, difference},
	} {
		turned(s, func(k, from int) reg.VecVirtual {
			v := load(s, of(k+p.first, p.firstPart+from))
			p.op(of(k+p.second, p.secondPart+from), v)
			return v
		}, func(i, from int, v reg.VecVirtual) {
			VMOVUPS(v, Mem{Base: block, Disp: recordSize*i + p.to + from})
		})
	}
	VZEROUPPER()
	RET()
}

// combine emits the way back: Z = A + i·B and C = conj A + i·conj B.
func combine(s set) {
	begin(s, "combine", "func(line, block *[32]float32, places *int)")
	line, block, places := pointer("line"), pointer("block"), pointer("places")
	sum := func(b Mem, a reg.VecVirtual) { VADDPS(b, a, a) }
	difference := func(b Mem, a reg.VecVirtual) { VSUBPS(b, a, a) }
	for _, p := range []struct {
		first, second, to, part int
		op                      func(b Mem, a reg.VecVirtual)
	}{
		{re, second + im, 0, re, difference},
		{im, second + re, 0, im, sum},
		{re, second + im, lanes, re, sum},
		{second + re, im, lanes, im, difference},
	} {
		turned(s, func(i, from int) reg.VecVirtual {
			v := load(s, Mem{Base: block, Disp: recordSize*i + p.first + from})
			p.op(Mem{Base: block, Disp: recordSize*i + p.second + from}, v)
			return v
		}, func(k, from int, v reg.VecVirtual) {
			at := GP64()
			MOVQ(Mem{Base: places, Disp: 8 * (k + p.to)}, at)
			VMOVUPS(v, Mem{Base: line, Index: at, Scale: 1, Disp: p.part + from})
		})
	}
	VZEROUPPER()
	RET()
}
