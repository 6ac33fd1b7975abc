package main

import "github.com/averaged/imaging/backend/cpu/_asm/neon"

// quad is how many numbers a vector has, and rows and columns a square.
const quad = 4

// The real and imaginary parts of a record, and the second half of a block of 32 records, in bytes.
const (
	re     = 0
	im     = 4 * lanes
	second = lanes * recordSize
)

// interleave emits blocks of 16 samples of 16 rows, a distance of stride apart, into the records of a
// line, or their imaginary parts.
func interleave(p *neon.Program) {
	f := p.Function("interleaveNEON", "func(line, rows *float32, stride, blocks int)", "interleaveNEON is interleavePortable.")
	line, rows, stride, blocks := f.Parameter("line"), f.Parameter("rows"), f.Parameter("stride"), f.Parameter("blocks")
	f.ShiftLeft(stride, stride, 2)
	at := f.General()
	f.Repeat(blocks, "block", func() {
		f.Move(at, rows)
		for down := 0; down < lanes; down += quad {
			var v [lanes / quad][]neon.V // by squares
			for j := range v {
				v[j] = f.Vectors(quad)
			}
			for i := range quad {
				for j := range v {
					f.Load(16, v[j][i], neon.At(at, 4*quad*j))
				}
				f.Add(at, at, stride)
			}
			for j := range v {
				for i, w := range f.Transposed(v[j]) {
					f.Store(16, w, neon.At(line, recordSize*(quad*j+i)+4*down))
				}
				f.Free(v[j]...)
			}
		}
		f.AddConstant(rows, rows, 4*lanes)
		f.AddConstant(line, line, recordSize*lanes)
	})
	f.Return()
}

// deinterleave emits the way back.
func deinterleave(p *neon.Program) {
	f := p.Function("deinterleaveNEON", "func(rows, line *float32, stride, blocks int)", "deinterleaveNEON is deinterleavePortable.")
	rows, line, stride, blocks := f.Parameter("rows"), f.Parameter("line"), f.Parameter("stride"), f.Parameter("blocks")
	f.ShiftLeft(stride, stride, 2)
	at := f.General()
	f.Repeat(blocks, "block", func() {
		f.Move(at, rows)
		for down := 0; down < lanes; down += quad { // rows
			var v [lanes / quad][]neon.V // by squares
			for j := range v {
				v[j] = f.Vectors(quad)
				for i := range quad {
					f.Load(16, v[j][i], neon.At(line, recordSize*(quad*j+i)+4*down))
				}
				f.Transposed(v[j])
			}
			for i := range quad {
				for j := range v {
					f.Store(16, v[j][i], neon.At(at, 4*quad*j))
				}
				f.Add(at, at, stride)
			}
			for j := range v {
				f.Free(v[j]...)
			}
		}
		f.AddConstant(rows, rows, 4*lanes)
		f.AddConstant(line, line, recordSize*lanes)
	})
	f.Return()
}

// operation writes d = n ∘ m.
type operation func(f *neon.Function, d, n, m neon.V)

func sum(f *neon.Function, d, n, m neon.V)        { f.FADD(neon.S4, d, n, m) }
func difference(f *neon.Function, d, n, m neon.V) { f.FSUB(neon.S4, d, n, m) }

// record sets at to the place of record k of Z, or k−16 of C, of the four that places points to.
func record(f *neon.Function, at, line, places neon.R, k int) {
	f.LoadGeneral(at, neon.At(places, 8*k))
	f.Add(at, at, line)
}

// separate emits the 16 columns of a group, of the spectra A of 16 rows and B of 16 others, from the
// records Z and C of a line: A = Z + conj C and B = −i·(Z − conj C). It makes four columns at a time.
func separate(p *neon.Program) {
	f := p.Function("separateNEON", "func(block, line *[32]float32, places *int)", "separateNEON is separatePortable.")
	block, line, places := f.Parameter("block"), f.Parameter("line"), f.Parameter("places")
	count := f.General()
	f.Constant(count, lanes/quad)
	f.Repeat(count, "columns", func() {
		var z, c [quad]neon.R
		for k := range quad {
			z[k], c[k] = f.General(), f.General()
			record(f, z[k], line, places, k)
			record(f, c[k], line, places, k+lanes)
		}
		for down := 0; down < 4*lanes; down += 4 * quad {
			for _, p := range []struct {
				first, second *[quad]neon.R
				part, to      int // the part of both
				op            operation
			}{
				{&z, &c, re, re, sum},
				{&z, &c, im, im, difference},
				{&z, &c, im, second + re, sum},
				{&c, &z, re, second + im, difference},
			} {
				v, w := f.Vectors(quad), f.Vector()
				for k := range quad {
					f.Load(16, v[k], neon.At(p.first[k], p.part+down))
					f.Load(16, w, neon.At(p.second[k], p.part+down))
					p.op(f, v[k], v[k], w)
				}
				for i, v := range f.Transposed(v) {
					f.Store(16, v, neon.At(block, recordSize*(down/4+i)+p.to))
				}
				f.Free(append(v, w)...)
			}
		}
		f.AddConstant(places, places, 8*quad)
		f.AddConstant(block, block, 4*quad)
	})
	f.Return()
}

// combine emits the way back: Z = A + i·B and C = conj A + i·conj B.
func combine(p *neon.Program) {
	f := p.Function("combineNEON", "func(line, block *[32]float32, places *int)", "combineNEON is combinePortable.")
	line, block, places := f.Parameter("line"), f.Parameter("block"), f.Parameter("places")
	count := f.General()
	f.Constant(count, lanes/quad)
	f.Repeat(count, "columns", func() {
		var z, c [quad]neon.R
		for k := range quad {
			z[k], c[k] = f.General(), f.General()
			record(f, z[k], line, places, k)
			record(f, c[k], line, places, k+lanes)
		}
		for down := 0; down < 4*lanes; down += 4 * quad {
			for _, p := range []struct {
				first, second int
				to            *[quad]neon.R
				part          int
				op            operation
			}{
				{re, second + im, &z, re, difference},
				{im, second + re, &z, im, sum},
				{re, second + im, &c, re, sum},
				{second + re, im, &c, im, difference},
			} {
				v, w := f.Vectors(quad), f.Vector()
				for i := range quad {
					f.Load(16, v[i], neon.At(block, recordSize*(down/4+i)+p.first))
					f.Load(16, w, neon.At(block, recordSize*(down/4+i)+p.second))
					p.op(f, v[i], v[i], w)
				}
				for k, v := range f.Transposed(v) {
					f.Store(16, v, neon.At(p.to[k], p.part+down))
				}
				f.Free(append(v, w)...)
			}
		}
		f.AddConstant(places, places, 8*quad)
		f.AddConstant(block, block, 4*quad)
	})
	f.Return()
}
