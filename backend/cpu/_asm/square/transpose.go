// Package square writes the transposition of squares of numbers, one vector for each row.
package square

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Transpose emits the columns of a square of vectors, eight of AVX2 or 16 of AVX-512: first inside
// squares of 4×4, which the processor's lanes of 128 bits hold, and then these among
// themselves.
func Transpose(rows []reg.VecVirtual) []reg.VecVirtual {
	n := len(rows)
	vector := func() reg.VecVirtual {
		if n == 8 {
			return YMM()
		}
		return ZMM()
	}
	op := func(f func(a, b Op, c Op), a, b reg.VecVirtual) reg.VecVirtual {
		c := vector()
		f(b, a, c)
		return c
	}
	lowSingle := func(a, b, c Op) { VUNPCKLPS(a, b, c) }
	highSingle := func(a, b, c Op) { VUNPCKHPS(a, b, c) }
	lowDouble := func(a, b, c Op) { VUNPCKLPD(a, b, c) }
	highDouble := func(a, b, c Op) { VUNPCKHPD(a, b, c) }
	// quads[g][c] has, in lane L, column 4L+c of rows 4g to 4g+3.
	quads := make([][]reg.VecVirtual, n/4)
	for g := range quads {
		r := rows[4*g:]
		t0, t1 := op(lowSingle, r[0], r[1]), op(highSingle, r[0], r[1])
		t2, t3 := op(lowSingle, r[2], r[3]), op(highSingle, r[2], r[3])
		quads[g] = []reg.VecVirtual{
			op(lowDouble, t0, t2), op(highDouble, t0, t2), op(lowDouble, t1, t3), op(highDouble, t1, t3),
		}
	}
	columns := make([]reg.VecVirtual, n)
	if n == 8 {
		for c := range 4 {
			columns[c], columns[4+c] = YMM(), YMM()
			VPERM2F128(U8(0x20), quads[1][c], quads[0][c], columns[c])
			VPERM2F128(U8(0x31), quads[1][c], quads[0][c], columns[4+c])
		}
		return columns
	}
	shuffle := func(control uint8, a, b reg.VecVirtual) reg.VecVirtual {
		c := ZMM()
		VSHUFF32X4(U8(control), b, a, c)
		return c
	}
	for c := range 4 {
		a, b := shuffle(0x44, quads[0][c], quads[1][c]), shuffle(0xee, quads[0][c], quads[1][c])
		d, e := shuffle(0x44, quads[2][c], quads[3][c]), shuffle(0xee, quads[2][c], quads[3][c])
		columns[c], columns[4+c] = shuffle(0x88, a, d), shuffle(0xdd, a, d)
		columns[8+c], columns[12+c] = shuffle(0x88, b, e), shuffle(0xdd, b, e)
	}
	return columns
}
