// Command convrow writes the assembly of package internal/convrow for arm64, the
// register blocks of direct convolution, and its Go declarations.
//
// A convolution's sum goes through the taps in their order, one fused multiply-add
// for each, in one register, and has the same end as for AVX2 and AVX-512: the bits
// are the same.
package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// vectors is how many vectors of columns a block has at most, and lanes the columns
// of a vector. With three vectors a tap of eight channels takes 24 multiply-adds for
// 11 loads; the sums, the samples and what is left for weights fill the registers.
const vectors, lanes = 3, 4

// bytes is the size of a vector.
const bytes = 4 * lanes

func main() {
	var p neon.Program
	for _, channels := range []int{1, 2, 3, 4, 8} {
		for n := 1; n <= vectors; n++ {
			block(&p, channels, n)
		}
	}
	for _, outputs := range []int{1, 2, 4, 8} {
		correlate(&p, outputs)
	}
	p.Write()
}

// block emits the sums of a register block: n vectors of columns of some output
// channels.
func block(p *neon.Program, channels, n int) {
	name := fmt.Sprintf("block%dx%dNEON", channels, n)
	f := p.Function(name,
		"func(dst *float32, plane int, src *float32, offsets *int, taps int, weights *float32, stride, last int, bias *float32, end *[3]float32)",
		fmt.Sprintf("%s is blockPortable for %d channels of %d to %d columns,\n// last of them in the last vector.", name, channels, (n-1)*lanes+1, n*lanes))
	sums := make([][]neon.V, channels)
	for k := range sums {
		sums[k] = f.Vectors(n)
		for _, sum := range sums[k] {
			f.Zero(sum)
		}
	}
	f.Scope(func() { overTaps(f, sums) })
	f.Scope(func() { finish(f, sums) })
	store(f, sums)
}

// overTaps emits the loop that adds up.
func overTaps(f *neon.Function, sums [][]neon.V) {
	src, offsets, taps := f.Parameter("src"), f.Parameter("offsets"), f.Parameter("taps")
	// The weights of a channel, at a distance from those of the first.
	weights, distances := f.Parameter("weights"), make([]neon.R, len(sums))
	for k := 1; k < len(sums); k++ {
		if k == 1 {
			distances[k] = f.Parameter("stride")
			f.ShiftLeft(distances[k], distances[k], 2)
			continue
		}
		distances[k] = f.General()
		f.Add(distances[k], distances[k-1], distances[1])
	}
	from := f.General()
	f.Repeat(taps, "tap", func() {
		f.LoadGeneral(from, neon.At(offsets, 0))
		f.AddConstant(offsets, offsets, 8)
		f.Add(from, from, src)
		x := f.Vectors(len(sums[0]))
		for j := range x {
			f.Load(bytes, x[j], neon.At(from, bytes*j))
		}
		// Two registers in turn let a weight be on its way while another is used.
		w := f.Vectors(2)
		for k := range sums {
			m := neon.At(weights, 0)
			if k > 0 {
				m = neon.Indexed(weights, distances[k])
			}
			f.Load(4, w[k%2], m)
			for j, sum := range sums[k] {
				f.FMLAElement(neon.S4, sum, x[j], w[k%2], 0)
			}
		}
		f.AddConstant(weights, weights, 4)
	})
}

// The places of the numbers of an ending.
const (
	endSlope = 4 * iota
	endScale
	endBeta
)

// finish emits the ending of all sums, except for what was in dst.
func finish(f *neon.Function, sums [][]neon.V) {
	bias, end := f.Parameter("bias"), f.Parameter("end")
	shift, slope, scale, low := f.Vector(), f.Vector(), f.Vector(), f.Vector()
	f.Load(4, slope, neon.At(end, endSlope))
	f.Load(4, scale, neon.At(end, endScale))
	for k := range sums {
		f.LD1R(neon.S4, shift, bias)
		f.AddConstant(bias, bias, 4)
		for _, v := range sums[k] {
			f.FADD(neon.S4, v, v, shift)
			f.FMULElement(neon.S4, low, v, slope, 0)
			f.FMAX(neon.S4, v, v, low)
			f.FMULElement(neon.S4, v, v, scale, 0)
		}
	}
}

// store emits the stores of all sums, once with and once without what was in dst,
// and the function's end.
func store(f *neon.Function, sums [][]neon.V) {
	dst, plane, last := f.Parameter("dst"), f.Parameter("plane"), f.Parameter("last")
	f.ShiftLeft(plane, plane, 2)
	end, left, at := f.Parameter("end"), f.General(), f.General()
	beta, old := f.Vector(), f.Vector()
	f.Load(4, beta, neon.At(end, endBeta))
	f.LoadWord(left, neon.At(end, endBeta))
	f.ShiftLeft(left, left, 33) // without the sign
	rows := func(name string, one func(bytes int, v neon.V, m neon.Mem)) {
		for k := range sums {
			f.Move(at, dst)
			for j, v := range sums[k] {
				if j == len(sums[k])-1 {
					break
				}
				one(bytes, v, neon.At(at, 0))
				f.AddConstant(at, at, bytes)
			}
			v := sums[k][len(sums[k])-1]
			part, next := fmt.Sprintf("%spart%d", name, k), fmt.Sprintf("%snext%d", name, k)
			f.BranchLess(last, lanes, part)
			one(bytes, v, neon.At(at, 0))
			f.Branch(next)
			// Column by column, as the vector turns.
			f.Label(part)
			f.Move(left, last)
			f.Repeat(left, part+"column", func() {
				one(4, v, neon.At(at, 0))
				f.EXT(v, v, v, 4)
				f.AddConstant(at, at, 4)
			})
			f.Label(next)
			f.Add(dst, dst, plane)
		}
		f.Return()
	}
	f.BranchZero(left, "store")
	rows("old", func(bytes int, v neon.V, m neon.Mem) {
		f.Load(bytes, old, m)
		f.FMULElement(neon.S4, old, old, beta, 0)
		f.FADD(neon.S4, old, old, v)
		f.Store(bytes, old, m)
	})
	f.Label("store")
	rows("new", func(bytes int, v neon.V, m neon.Mem) { f.Store(bytes, v, m) })
}
