package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// square is how many pixels of how many channels are transposed at a time: two
// vectors of each are moved by one instruction.
const square = 2 * lanes

// transpose emits the transposition of a square: rows of eight numbers at src, from
// apart, become rows of eight numbers at dst, to apart. end stores a row. Both
// pointers end behind the square.
func transpose(f *neon.Function, src, from, dst, to neon.R, end func(v, w neon.V, m neon.Mem)) {
	var a [2][2][]neon.V // by halves of the rows, and of a row
	for i := range a {
		a[i] = [2][]neon.V{f.Vectors(lanes), f.Vectors(lanes)}
		for k := range lanes {
			f.LoadPair(a[i][0][k], a[i][1][k], neon.At(src, 0))
			f.Add(src, src, from)
		}
	}
	for j := range 2 {
		v, w := f.Transposed(a[0][j]), f.Transposed(a[1][j])
		for k := range lanes {
			end(v[k], w[k], neon.At(dst, 0))
			f.Add(dst, dst, to)
		}
	}
}

// pack emits blocks of eight pixels of eight channels, planes to pixels.
func pack(p *neon.Program) {
	f := p.Function("packNEON", "func(dst *float32, pixel int, src *float32, plane, blocks int)",
		fmt.Sprintf("packNEON is pack for %d channels and blocks of %d pixels.", square, square))
	dst, pixel, src, plane := f.Parameter("dst"), distance(f, "pixel"), f.Parameter("src"), distance(f, "plane")
	blocks, at := f.Parameter("blocks"), f.General()
	f.Repeat(blocks, "block", func() {
		f.Move(at, src)
		transpose(f, at, plane, dst, pixel, f.StorePair)
		f.AddConstant(src, src, 2*bytes)
	})
	f.Return()
}

// unpack emits the way back; add says that beta times what stands at dst is added.
func unpack(p *neon.Program, add bool) {
	name, signature, what := "unpackNEON", "func(dst *float32, plane int, src *float32, pixel, blocks int)", " and beta = 0"
	if add {
		name, signature, what = "unpackAddNEON", "func(dst *float32, plane int, src *float32, pixel, blocks int, beta float32)", ""
	}
	f := p.Function(name, signature,
		fmt.Sprintf("%s is unpack for %d channels, blocks of %d pixels%s.", name, square, square, what))
	dst, plane, src, pixel := f.Parameter("dst"), distance(f, "plane"), f.Parameter("src"), distance(f, "pixel")
	blocks, at := f.Parameter("blocks"), f.General()
	end := f.StorePair
	if add {
		beta, old := f.Number("beta"), f.Vectors(2)
		end = func(v, w neon.V, m neon.Mem) {
			f.LoadPair(old[0], old[1], m)
			f.FMUL(neon.S4, old[0], old[0], beta)
			f.FMUL(neon.S4, old[1], old[1], beta)
			f.FADD(neon.S4, v, v, old[0])
			f.FADD(neon.S4, w, w, old[1])
			f.StorePair(v, w, m)
		}
	}
	f.Repeat(blocks, "block", func() {
		f.Move(at, dst)
		transpose(f, src, pixel, at, plane, end)
		f.AddConstant(dst, dst, 2*bytes)
	})
	f.Return()
}
