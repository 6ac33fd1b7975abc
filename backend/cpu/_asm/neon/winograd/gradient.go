package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// valuesNumbers are what values multiplies by.
var valuesNumbers = []float32{2, 0.5, 4, 16, 0.25, 0.0625}

// values is Ay, the transpose of evaluate: 18 operations and 4 copies.
func (t transform) values(y []neon.V, out func(k int, v neon.V)) {
	f := t.f
	out(0, y[0])
	out(patch-1, y[5])
	// pair finishes the outputs at the points p and −p of their parts.
	pair := func(k int, even neon.V, p float32, odd neon.V) {
		plus, minus := t.plusMinus(even, p, odd)
		f.Free(odd)
		out(k, plus)
		out(k+1, minus)
		f.Free(plus, minus)
	}
	even, odd := t.add(y[0], y[2]), t.add(y[1], y[3])
	f.FADD(neon.S4, even, even, y[4])
	f.FADD(neon.S4, odd, odd, y[5])
	pair(1, even, 1, odd)
	// At ±p the odd part is p·(y₁ + p²y₃ + p⁴y₅).
	for k, p := range []float32{2, 0.5} {
		even, odd := y[0], y[1]
		if k == 0 {
			even, odd = t.copied(even), t.copied(odd)
		}
		t.accumulate(even, p*p, y[2])
		t.accumulate(odd, p*p, y[3])
		t.accumulate(even, p*p*p*p, y[4])
		t.accumulate(odd, p*p*p*p, y[5])
		pair(3+2*k, even, p, odd)
	}
	f.Free(y[2:]...)
}

// spread emits the transform of the gradients with respect to a tile's outputs: its
// rows first, like those of a patch.
func spread(p *neon.Program) {
	f := p.Function("spreadNEON",
		"func(v *float32, point int, src *float32, row, pixel, channels int, scratch *[1024]float32)",
		"spreadNEON is spread.")
	t := newTransform(f, valuesNumbers...)
	v, src, scratch := f.Parameter("v"), f.Parameter("src"), f.Parameter("scratch")
	overBlocks(f, func() {
		f.Scope(func() {
			from := newPixels(f, src, "row", "pixel")
			t.columns(scratch, tile, from.line, func() []neon.V {
				var d []neon.V
				for x := range tile {
					d = append(d, from.load(x))
				}
				from.part()
				return d
			}, t.values)
		})
		f.Scope(func() {
			to, count := newPoints(f, v), f.General()
			f.Constant(count, patch)
			t.rows(scratch, count, tile, to.line, func(d []neon.V) {
				t.values(d, to.store)
				to.part()
			})
		})
	}, v, src)
}

// inputs is how many input channels a register block of correlate has: with a block
// of output channels they have 24 sums, two vectors of inputs, and four of outputs.
const inputs = 6

// correlate emits the product of matrices of a filter's gradient, block by block of
// output channels. One tile of a register block takes 2 loads of inputs, which stand
// side by side, 2 of pairs of vectors of outputs, and 24 multiplications with addition.
func correlate(p *neon.Program) {
	f := p.Function("correlateNEON",
		"func(u *float32, uRow int, v *float32, vTile int, p *float32, pTile, tiles, in, out, add int)",
		"correlateNEON is correlate.")
	c := correlation{f: f}
	c.u, c.p, c.out = f.Parameter("u"), f.Parameter("p"), f.Parameter("out")
	c.vTile, c.pTile, c.uRow = distance(f, "vTile"), distance(f, "pTile"), distance(f, "uRow")
	f.Label("block")
	f.Scope(c.allInputs)
	f.AddConstant(c.u, c.u, blockBytes)
	f.AddConstant(c.p, c.p, blockBytes)
	f.AddConstant(c.out, c.out, -block)
	f.BranchNotZero(c.out, "block")
	f.Return()
}

// correlation is the product for a block of columns of p.
type correlation struct {
	f                  *neon.Function
	u, p, out          neon.R
	vTile, pTile, uRow neon.R
	v, to              neon.R // the column of v and the row of u that are next
}

// allInputs goes down the input channels.
func (c correlation) allInputs() {
	f := c.f
	left := f.Parameter("in")
	c.v, c.to = f.Parameter("v"), f.General()
	f.Move(c.to, c.u)
	inRegisterBlocks(f, left, inputs, c.registerBlock)
}

// registerBlock sets n rows of u, or adds to them, and moves on to the next ones.
func (c correlation) registerBlock(n int) {
	f := c.f
	sums := make([][]neon.V, n)
	for i := range sums {
		sums[i] = f.Vectors(parts)
		for _, sum := range sums[i] {
			f.Zero(sum)
		}
	}
	from, p, tiles := f.General(), f.General(), f.Parameter("tiles")
	f.Move(from, c.v)
	f.Move(p, c.p)
	f.Repeat(tiles, fmt.Sprintf("tiles%d", n), func() {
		row := f.Vectors(parts)
		for k := 0; k < parts; k += 2 {
			f.LoadPair(row[k], row[k+1], neon.At(p, k*bytes))
		}
		for i, input := range c.side(from, n) {
			for k := range row {
				f.FMLAElement(neon.S4, sums[i][k], row[k], input.v, input.number)
			}
		}
		f.Add(p, p, c.pTile)
		f.Add(from, from, c.vTile)
	})
	f.AddConstant(c.v, c.v, 4*n)
	add, to, fresh := f.Parameter("add"), f.General(), fmt.Sprintf("fresh%d", n)
	f.BranchZero(add, fresh)
	f.Move(to, c.to)
	old := f.Vectors(2)
	for i := range n {
		for k := 0; k < parts; k += 2 {
			f.LoadPair(old[0], old[1], neon.At(to, k*bytes))
			f.FADD(neon.S4, sums[i][k], sums[i][k], old[0])
			f.FADD(neon.S4, sums[i][k+1], sums[i][k+1], old[1])
		}
		f.Add(to, to, c.uRow)
	}
	f.Label(fresh)
	for i := range n {
		for k := 0; k < parts; k += 2 {
			f.StorePair(sums[i][k], sums[i][k+1], neon.At(c.to, k*bytes))
		}
		f.Add(c.to, c.to, c.uRow)
	}
}

// side loads n numbers that stand side by side at a pointer, and no number beside
// them.
func (c correlation) side(from neon.R, n int) []lane {
	var loaded []lane
	for width := lanes; width > 0; width /= 2 {
		if n-len(loaded) < width {
			continue
		}
		v := c.f.Vector()
		c.f.Load(4*width, v, neon.At(from, 4*len(loaded)))
		for number := range width {
			loaded = append(loaded, lane{v, number})
		}
	}
	return loaded
}
