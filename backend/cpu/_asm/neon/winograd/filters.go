package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// taps is the number of rows and of columns of a filter.
const taps = 3

// Filters are transformed in float64, two channels at a time. What is between the two
// halves of a transform is in the scratch memory, one line of a block's numbers for each
// point and tap, and behind it are eight lines of sums.
const (
	couples   = block / 2
	lineBytes = 8 * block
	sumsBegin = patch * taps * lineBytes
)

// filterNumbers are the numbers of G, but 0 and 1, without their signs.
var filterNumbers = []float64{2. / 9, 1. / 90, 1. / 45, 2. / 45, 8. / 45, 16. / 45, 32. / 45}

// filterTransform emits the arithmetic of a filter's transform on float64.
type filterTransform struct {
	f       *neon.Function
	numbers map[float64]lane
}

func newFilterTransform(f *neon.Function) filterTransform {
	t := filterTransform{f, map[float64]lane{}}
	for numbers := filterNumbers; len(numbers) > 0; {
		var two [2]float64
		n := copy(two[:], numbers)
		v := f.Vector()
		f.Doubles(v, two)
		for i, number := range numbers[:n] {
			t.numbers[number] = lane{v, i}
		}
		numbers = numbers[n:]
	}
	return t
}

// weighted returns k·x, and accumulate adds it to a.
func (t filterTransform) weighted(k float64, x neon.V) neon.V {
	v, l := t.f.Vector(), t.numbers[k]
	t.f.FMULElement(neon.D2, v, x, l.v, l.number)
	return v
}

func (t filterTransform) accumulate(a neon.V, k float64, x neon.V) {
	if k < 0 {
		l := t.numbers[-k]
		t.f.FMLSElement(neon.D2, a, x, l.v, l.number)
		return
	}
	l := t.numbers[k]
	t.f.FMLAElement(neon.D2, a, x, l.v, l.number)
}

// atPoints is Gw: 12 operations, 3 copies and a zero. It calls out as soon as a result is
// there.
func (t filterTransform) atPoints(w []neon.V, out func(k int, v neon.V)) {
	f := t.f
	out(0, w[0])
	out(patch-1, w[2])
	// pair adds k·w₁ to the even part for one point and takes it away for the next.
	pair := func(point int, even neon.V, k float64) {
		minus := f.Vector()
		f.MOV(minus, even)
		t.accumulate(minus, -k, w[1])
		t.accumulate(even, k, w[1])
		out(point, even)
		out(point+1, minus)
		f.Free(even, minus)
	}
	ends, even := f.Vector(), f.Vector()
	f.FADD(neon.D2, ends, w[0], w[2])
	f.Zero(even)
	t.accumulate(even, -2./9, ends)
	f.Free(ends)
	pair(1, even, -2./9)
	even = t.weighted(1./90, w[0])
	t.accumulate(even, 2./45, w[2])
	pair(3, even, 1./45)
	even = t.weighted(32./45, w[0])
	t.accumulate(even, 8./45, w[2])
	pair(5, even, 16./45)
	f.Free(w...)
}

// toTaps is Gᵀy, the transpose of atPoints: 15 operations.
func (t filterTransform) toTaps(y []neon.V, out func(k int, v neon.V)) {
	f := t.f
	// plusMinus returns a + b and, over a, a − b.
	plusMinus := func(a, b neon.V) (plus, minus neon.V) {
		plus = f.Vector()
		f.FADD(neon.D2, plus, a, b)
		f.FSUB(neon.D2, a, a, b)
		return plus, a
	}
	s1, d1 := plusMinus(y[2], y[1])
	s2, d2 := plusMinus(y[3], y[4])
	s3, d3 := plusMinus(y[5], y[6])
	t.accumulate(y[0], -2./9, s1)
	t.accumulate(y[0], 1./90, s2)
	t.accumulate(y[0], 32./45, s3)
	out(0, y[0])
	middle := t.weighted(2./9, d1)
	t.accumulate(middle, 1./45, d2)
	t.accumulate(middle, 16./45, d3)
	out(1, middle)
	t.accumulate(y[7], -2./9, s1)
	t.accumulate(y[7], 2./45, s2)
	t.accumulate(y[7], 8./45, s3)
	out(2, y[7])
	f.Free(s1, s2, s3, middle)
	f.Free(y...)
}

// walk is a pointer and by how many bytes it moves on.
type walk struct {
	pointer neon.R
	bytes   int
}

// inCouples emits a loop over the couples of a block.
func inCouples(f *neon.Function, label string, body func(), walks ...walk) {
	f.Scope(func() {
		count := f.General()
		f.Constant(count, couples)
		f.Repeat(count, label, func() {
			body()
			for _, w := range walks {
				f.AddConstant(w.pointer, w.pointer, w.bytes)
			}
		})
	})
}

// lineOf is the offset of the scratch memory of point k and tap t.
func lineOf(k, t int) int { return (k*taps + t) * lineBytes }

// narrowed stores v, rounded to float32.
func narrowed(f *neon.Function, v neon.V, m neon.Mem) {
	half := f.Vector()
	f.FCVTN(half, v)
	f.Store(bytes/2, half, m)
	f.Free(half)
}

// expand emits the transform of filters, rows first.
func expand(p *neon.Program) {
	f := p.Function("expandNEON",
		"func(u *float32, point int, taps *float32, channels int, scratch *[1024]float32)",
		"expandNEON is expand.")
	t := newFilterTransform(f)
	u, filters, scratch := f.Parameter("u"), f.Parameter("taps"), f.Parameter("scratch")
	overBlocks(f, func() {
		f.Scope(func() {
			tap, from, to := newStrides(f, distance(f, "channels"), taps*taps), f.General(), f.General()
			for row := range taps {
				f.Move(from, filters)
				f.Move(to, scratch)
				inCouples(f, fmt.Sprintf("taps%d", row), func() {
					w := f.Vectors(taps)
					for s := range w {
						f.Load(bytes/2, w[s], tap.at(from, row*taps+s))
						f.FCVTL(w[s], w[s])
					}
					t.atPoints(w, func(k int, v neon.V) { f.Store(bytes, v, neon.At(to, lineOf(k, row))) })
				}, walk{from, bytes / 2}, walk{to, bytes})
			}
		})
		f.Scope(func() {
			to, from, count := newPoints(f, u), f.General(), f.General()
			f.Move(from, scratch)
			f.Constant(count, patch)
			f.Repeat(count, "column", func() {
				to.line()
				inCouples(f, "points", func() {
					w := f.Vectors(taps)
					for r := range w {
						f.Load(bytes, w[r], neon.At(from, lineOf(0, r)))
					}
					t.atPoints(w, func(l int, v neon.V) { narrowed(f, v, to.arrays.at(to.now, l)) })
				}, walk{to.now, bytes / 2}, walk{from, bytes})
				f.AddConstant(from, from, lineOf(1, 0)-lineBytes)
			})
		})
	}, u, filters)
}

// contract emits the way back of the sum of arrays, rows first.
func contract(p *neon.Program) {
	f := p.Function("contractNEON",
		"func(taps *float32, parts *[]float32, count, at, point, channels int, scratch *[1024]float32)",
		"contractNEON is contract.")
	t := newFilterTransform(f)
	filters, scratch, at := f.Parameter("taps"), f.Parameter("scratch"), distance(f, "at")
	overBlocks(f, func() {
		f.Scope(func() {
			offset, point, to := f.General(), distance(f, "point"), f.General()
			from, count := f.General(), f.General()
			f.Move(offset, at)
			f.Move(to, scratch)
			f.Constant(count, patch)
			f.Repeat(count, "row", func() {
				f.Scope(func() {
					sums, left := f.General(), f.General()
					f.AddConstant(sums, scratch, sumsBegin)
					f.Constant(left, patch)
					f.Repeat(left, "point", func() {
						sumParts(f, offset, sums)
						f.AddConstant(sums, sums, lineBytes)
						f.Add(offset, offset, point)
					})
				})
				f.AddConstant(from, scratch, sumsBegin)
				inCouples(f, "sums", func() {
					y := f.Vectors(patch)
					for l := range y {
						f.Load(bytes, y[l], neon.At(from, l*lineBytes))
					}
					t.toTaps(y, func(s int, v neon.V) { f.Store(bytes, v, neon.At(to, lineOf(0, s))) })
				}, walk{from, bytes}, walk{to, bytes})
				f.AddConstant(to, to, lineOf(1, 0)-lineBytes)
			})
		})
		f.Scope(func() {
			tap, from, to := newStrides(f, distance(f, "channels"), taps*taps), f.General(), f.General()
			for column := range taps {
				f.Move(from, scratch)
				f.Move(to, filters)
				inCouples(f, fmt.Sprintf("taps%d", column), func() {
					y := f.Vectors(patch)
					for k := range y {
						f.Load(bytes, y[k], neon.At(from, lineOf(k, column)))
					}
					t.toTaps(y, func(r int, v neon.V) { narrowed(f, v, tap.at(to, r*taps+column)) })
				}, walk{to, bytes / 2}, walk{from, bytes})
			}
		})
	}, filters, at)
}

// sumParts adds up a block of all parts, at an offset from where they begin, and puts the
// sum at a pointer.
func sumParts(f *neon.Function, offset, to neon.R) {
	f.Scope(func() {
		sums := f.Vectors(couples)
		for _, sum := range sums {
			f.Zero(sum)
		}
		header, left, part := f.Parameter("parts"), f.Parameter("count"), f.General()
		f.Repeat(left, "part", func() {
			f.LoadGeneral(part, neon.At(header, 0))
			f.AddConstant(header, header, sliceBytes)
			f.Add(part, part, offset)
			x, wide := f.Vectors(parts), f.Vector()
			for k := 0; k < parts; k += 2 {
				f.LoadPair(x[k], x[k+1], neon.At(part, k*bytes))
			}
			for k := range x {
				f.FCVTL(wide, x[k])
				f.FADD(neon.D2, sums[2*k], sums[2*k], wide)
				f.FCVTL2(wide, x[k])
				f.FADD(neon.D2, sums[2*k+1], sums[2*k+1], wide)
			}
		})
		for k := 0; k < couples; k += 2 {
			f.StorePair(sums[k], sums[k+1], neon.At(to, k*bytes))
		}
	})
}
