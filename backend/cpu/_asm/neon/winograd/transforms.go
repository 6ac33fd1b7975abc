package main

import "github.com/averaged/imaging/backend/cpu/_asm/neon"

// transform emits the arithmetic of a transform. The numbers that it multiplies by
// stand in the lanes of a few registers.
type transform struct {
	f       *neon.Function
	numbers map[float32]lane
}

// lane is a lane of a register.
type lane struct {
	v      neon.V
	number int
}

// newTransform loads numbers.
func newTransform(f *neon.Function, numbers ...float32) transform {
	t := transform{f, map[float32]lane{}}
	for len(numbers) > 0 {
		var four [lanes]float32
		n := copy(four[:], numbers)
		v := f.Vector()
		f.Numbers(v, four)
		for i, number := range numbers[:n] {
			t.numbers[number] = lane{v, i}
		}
		numbers = numbers[n:]
	}
	return t
}

// copied returns a copy of a.
func (t transform) copied(a neon.V) neon.V {
	v := t.f.Vector()
	t.f.MOV(v, a)
	return v
}

func (t transform) add(a, b neon.V) neon.V {
	v := t.f.Vector()
	t.f.FADD(neon.S4, v, a, b)
	return v
}

func (t transform) sub(a, b neon.V) neon.V {
	v := t.f.Vector()
	t.f.FSUB(neon.S4, v, a, b)
	return v
}

// accumulate adds k·x to a.
func (t transform) accumulate(a neon.V, k float32, x neon.V) {
	if k < 0 {
		l := t.numbers[-k]
		t.f.FMLSElement(neon.S4, a, x, l.v, l.number)
		return
	}
	l := t.numbers[k]
	t.f.FMLAElement(neon.S4, a, x, l.v, l.number)
}

// plusMinus returns a + k·b and, over a, a − k·b.
func (t transform) plusMinus(a neon.V, k float32, b neon.V) (plus, minus neon.V) {
	if k == 1 {
		plus = t.add(a, b)
		t.f.FSUB(neon.S4, a, a, b)
		return plus, a
	}
	plus = t.copied(a)
	t.accumulate(plus, k, b)
	t.accumulate(a, -k, b)
	return plus, a
}

// interpolateNumbers are what interpolate multiplies by.
var interpolateNumbers = []float32{5.25, 4.25, 0.25, 1.25, 2, 4, 5, 0.5}

// interpolate is Bᵀx: 24 operations and 4 copies. It calls out as soon as a result
// is there, so that few are held at once.
func (t transform) interpolate(x []neon.V, out func(k int, v neon.V)) {
	f := t.f
	finish := func(k int, v neon.V) {
		out(k, v)
		f.Free(v)
	}
	y, z := t.sub(x[0], x[6]), t.sub(x[4], x[2])
	t.accumulate(y, 5.25, z)
	f.Free(z)
	finish(0, y)
	y, z = t.sub(x[7], x[1]), t.sub(x[3], x[5])
	t.accumulate(y, 5.25, z)
	f.Free(z)
	finish(7, y)

	even, odd := t.add(x[2], x[6]), t.add(x[1], x[5])
	t.accumulate(even, -4.25, x[4])
	t.accumulate(odd, -4.25, x[3])
	plus, minus := t.plusMinus(even, 1, odd)
	f.Free(odd)
	finish(1, plus)
	finish(2, minus)

	even, odd = t.copied(x[6]), t.copied(x[5])
	t.accumulate(even, 0.25, x[2])
	t.accumulate(odd, 0.25, x[1])
	t.accumulate(even, -1.25, x[4])
	t.accumulate(odd, -1.25, x[3])
	plus, minus = t.plusMinus(even, 2, odd)
	f.Free(odd)
	finish(3, plus)
	finish(4, minus)

	even, odd = x[6], x[5]
	t.accumulate(even, 4, x[2])
	t.accumulate(odd, 4, x[1])
	t.accumulate(even, -5, x[4])
	t.accumulate(odd, -5, x[3])
	plus, minus = t.plusMinus(even, 0.5, odd)
	finish(5, plus)
	out(6, minus)
	f.Free(x...)
}

// evaluateNumbers are what evaluate multiplies by.
var evaluateNumbers = []float32{4, 0.25, 16, 0.0625, 2, 0.5, 8, 0.125, 32, 0.03125}

// evaluate is Aᵀm: 20 operations and 2 copies.
func (t transform) evaluate(m []neon.V, out func(k int, v neon.V)) {
	f := t.f
	s1, d1 := t.plusMinus(m[1], 1, m[2])
	s2, d2 := t.plusMinus(m[3], 1, m[4])
	s3, d3 := t.plusMinus(m[5], 1, m[6])
	f.Free(m[2], m[4], m[6])
	// combine finishes output k with a + b·x + c·z, over a.
	combine := func(k int, a neon.V, b float32, x neon.V, c float32, z neon.V) {
		t.accumulate(a, b, x)
		t.accumulate(a, c, z)
		out(k, a)
		f.Free(a)
	}

	f.FADD(neon.S4, m[0], m[0], s1)
	f.FADD(neon.S4, m[0], m[0], s2)
	f.FADD(neon.S4, m[0], m[0], s3)
	out(0, m[0])
	f.Free(m[0])
	combine(2, t.copied(s1), 4, s2, 0.25, s3)
	combine(4, s1, 16, s2, 0.0625, s3)
	f.Free(s2, s3)
	f.FADD(neon.S4, m[7], m[7], d1)
	combine(5, m[7], 32, d2, 0.03125, d3)
	combine(1, t.copied(d1), 2, d2, 0.5, d3)
	combine(3, d1, 8, d2, 0.125, d3)
	f.Free(d2, d3)
}

// The scratch memory is written by columns and read by rows, for a block of
// channels at a time: vector l of part c in row k is at
// k·scratchRow + c·scratchPart + l·bytes.
const (
	scratchPart = patch * bytes
	scratchRow  = parts * scratchPart
)

// columns emits the half of a two-dimensional transform that fills the scratch
// memory. It goes over count columns and the parts of a block in each: before is
// called for a column, load returns the vectors of a part, and one transforms them.
func (t transform) columns(scratch neon.R, count int, before func(), load func() []neon.V, one func([]neon.V, func(k int, v neon.V))) {
	f := t.f
	f.Scope(func() {
		to, column, part := f.General(), f.General(), f.General()
		f.Move(to, scratch)
		f.Constant(column, count)
		f.Repeat(column, "column", func() {
			before()
			f.Constant(part, parts)
			f.Repeat(part, "columnpart", func() {
				one(load(), func(k int, v neon.V) { f.Store(bytes, v, neon.At(to, k*scratchRow)) })
				f.AddConstant(to, to, scratchPart)
			})
			f.AddConstant(to, to, bytes-scratchRow)
		})
	})
}

// rows emits the other half: it goes over the first rows of the scratch memory, of
// length columns. before is called for a row, and one transforms the vectors of a
// part.
func (t transform) rows(scratch, count neon.R, length int, before func(), one func([]neon.V)) {
	f := t.f
	f.Scope(func() {
		from, part := f.General(), f.General()
		f.Move(from, scratch)
		f.Repeat(count, "row", func() {
			before()
			f.Constant(part, parts)
			f.Repeat(part, "rowpart", func() {
				d := f.Vectors(length)
				for l := 0; l < length; l += 2 {
					f.LoadPair(d[l], d[l+1], neon.At(from, l*bytes))
				}
				one(d)
				f.AddConstant(from, from, scratchPart)
			})
		})
	})
}

// lines addresses arrays in lines of some, at fixed distances between lines and in
// a line: the 64 points, or the pixels of a tile.
type lines struct {
	f          *neon.Function
	next       neon.R // the distance of lines
	begin, now neon.R // where the next line begins, and the part of the line
	arrays     strides
}

// newPoints returns the 64 points of transformed numbers at first: a line is a
// column of them.
func newPoints(f *neon.Function, first neon.R) lines {
	l := lines{f: f, next: distance(f, "point"), begin: f.General(), now: f.General()}
	f.Move(l.begin, first)
	down := f.General()
	f.ShiftLeft(down, l.next, 3)
	l.arrays = newStrides(f, down, patch)
	return l
}

// newPixels returns the pixels of a tile at first; the parameters row and pixel are
// their distances.
func newPixels(f *neon.Function, first neon.R, row, pixel string) lines {
	l := lines{f: f, next: distance(f, row), begin: f.General(), now: f.General()}
	f.Move(l.begin, first)
	l.arrays = newStrides(f, distance(f, pixel), tile)
	return l
}

// line goes to the next line.
func (l lines) line() {
	l.f.Move(l.now, l.begin)
	l.f.Add(l.begin, l.begin, l.next)
}

// part goes to the next part of a line.
func (l lines) part() { l.f.AddConstant(l.now, l.now, bytes) }

func (l lines) load(k int) neon.V {
	v := l.f.Vector()
	l.f.Load(bytes, v, l.arrays.at(l.now, k))
	return v
}

func (l lines) store(k int, v neon.V) { l.f.Store(bytes, v, l.arrays.at(l.now, k)) }

// overBlocks emits the loop over the blocks of the channels, and the function's
// end. The pointers move on by a block.
func overBlocks(f *neon.Function, body func(), pointers ...neon.R) {
	channels := f.Parameter("channels")
	f.Label("block")
	body()
	for _, p := range pointers {
		f.AddConstant(p, p, blockBytes)
	}
	f.AddConstant(channels, channels, -block)
	f.BranchNotZero(channels, "block")
	f.Return()
}

// sliceBytes is the size of a slice's header, whose first word is its address.
const sliceBytes = 24

// input emits the transform of a patch: first of its rows, each of which is one run
// of memory, and then of what they give at each point, which goes to eight points
// at a time, a whole cache line to each.
func input(p *neon.Program) {
	f := p.Function("inputNEON",
		"func(v *float32, point int, rows *[8][]float32, x, pixel, channels int, scratch *[1024]float32)",
		"inputNEON is input.")
	t := newTransform(f, interpolateNumbers...)
	v, rows, x, scratch := f.Parameter("v"), f.Parameter("rows"), distance(f, "x"), f.Parameter("scratch")
	overBlocks(f, func() {
		f.Scope(func() {
			row := f.General()
			pixels := newStrides(f, distance(f, "pixel"), patch)
			t.columns(scratch, patch, func() {
				f.LoadGeneral(row, neon.At(rows, 0))
				f.Add(row, row, x)
				f.AddConstant(rows, rows, sliceBytes)
			}, func() []neon.V {
				d := f.Vectors(patch)
				for k := range d {
					f.Load(bytes, d[k], pixels.at(row, k))
				}
				f.AddConstant(row, row, bytes)
				return d
			}, t.interpolate)
			f.AddConstant(rows, rows, -patch*sliceBytes)
		})
		f.Scope(func() {
			to, count := newPoints(f, v), f.General()
			f.Constant(count, patch)
			t.rows(scratch, count, patch, to.line, func(d []neon.V) {
				t.interpolate(d, to.store)
				to.part()
			})
		})
	}, v, x)
}

// outputs emits what makes the outputs of a tile for a block of channels: columns
// of points first, and then row by row. begin is called between them and returns
// what is called for a row, and what for each vector of a row.
func (t transform) outputs(m, scratch neon.R, begin func() (line func(), one func(d []neon.V))) {
	f := t.f
	f.Scope(func() {
		from := newPoints(f, m)
		t.columns(scratch, patch, from.line, func() []neon.V {
			var d []neon.V
			for l := range patch {
				d = append(d, from.load(l))
			}
			from.part()
			return d
		}, t.evaluate)
	})
	f.Scope(func() {
		count := f.Parameter("rows")
		line, one := begin()
		t.rows(scratch, count, patch, line, one)
	})
}

// activate emits the outputs with the end max(y + bias, slope·(y + bias)).
func activate(p *neon.Program) {
	f := p.Function("activateNEON",
		"func(dst *float32, row, pixel int, m *float32, point int, bias *float32, slope float32, rows, channels int, scratch *[1024]float32)",
		"activateNEON is activate.")
	t := newTransform(f, evaluateNumbers...)
	slope := f.Number("slope")
	dst, m, bias, scratch := f.Parameter("dst"), f.Parameter("m"), f.Parameter("bias"), f.Parameter("scratch")
	overBlocks(f, func() {
		t.outputs(m, scratch, func() (line func(), one func(d []neon.V)) {
			to, biases := newPixels(f, dst, "row", "pixel"), f.General()
			return func() {
					to.line()
					f.Move(biases, bias)
				}, func(d []neon.V) {
					shift := f.Vector()
					f.Load(bytes, shift, neon.At(biases, 0))
					f.AddConstant(biases, biases, bytes)
					t.evaluate(d, func(x int, y neon.V) {
						low := f.Vector()
						f.FADD(neon.S4, y, y, shift)
						f.FMUL(neon.S4, low, y, slope)
						// A number is larger than NaN here: 0 times an infinity is none.
						f.FMAXNM(neon.S4, y, y, low)
						to.store(x, y)
						f.Free(low)
					})
					to.part()
				}
		})
	}, dst, m, bias)
}

// update emits the outputs with the end src + scale·y.
func update(p *neon.Program) {
	f := p.Function("updateNEON",
		"func(dst *float32, row, pixel int, src *float32, srcRow, srcPixel int, m *float32, point int, scale float32, rows, channels int, scratch *[1024]float32)",
		"updateNEON is update.")
	t := newTransform(f, evaluateNumbers...)
	scale := f.Number("scale")
	dst, src, m, scratch := f.Parameter("dst"), f.Parameter("src"), f.Parameter("m"), f.Parameter("scratch")
	overBlocks(f, func() {
		t.outputs(m, scratch, func() (line func(), one func(d []neon.V)) {
			to, from := newPixels(f, dst, "row", "pixel"), newPixels(f, src, "srcRow", "srcPixel")
			return func() {
					to.line()
					from.line()
				}, func(d []neon.V) {
					t.evaluate(d, func(x int, y neon.V) {
						z := from.load(x)
						f.FMLA(neon.S4, z, y, scale)
						to.store(x, z)
						f.Free(z)
					})
					to.part()
					from.part()
				}
		})
	}, dst, src, m)
}
