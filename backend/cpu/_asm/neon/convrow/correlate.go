package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// The sizes of convrow.Products.
const correlatedTaps, maxOutputs = 3, 8

// correlate emits the sums over a tile of products of some outputs' gradients with
// the input at three taps. Each sum has a lane for every lane of a vector: with eight
// outputs the sums fill 24 registers, and a vector takes 24 multiply-adds for 11
// loads.
func correlate(p *neon.Program, outputs int) {
	name := fmt.Sprintf("correlate%dNEON", outputs)
	f := p.Function(name,
		"func(sums *[3][8]float32, dy *float32, plane int, x *float32, offsets *[3]int, rows, vectors, pitchY, pitchX int)",
		fmt.Sprintf("%s is correlatePortable for %d outputs,\n// with other lanes. The pitches are from the end of a row to the next.", name, outputs))
	sums := make([][]neon.V, correlatedTaps) // by taps, then by outputs
	for t := range sums {
		sums[t] = f.Vectors(outputs)
		for _, sum := range sums[t] {
			f.Zero(sum)
		}
	}
	f.Scope(func() { overTile(f, sums) })
	to := f.Parameter("sums")
	for t := range sums {
		for k := 0; k < outputs; k += lanes {
			f.Scope(func() {
				four := [lanes]neon.V{}
				for j := range four {
					four[j] = sums[t][min(k+j, outputs-1)]
				}
				v, w := f.Vector(), f.Vector()
				f.FADDP(neon.S4, v, four[0], four[1])
				f.FADDP(neon.S4, w, four[2], four[3])
				f.FADDP(neon.S4, v, v, w)
				f.Store(bytes, v, neon.At(to, 4*(maxOutputs*t+k)))
			})
		}
	}
	f.Return()
}

// overTile emits the loops over rows and vectors. Every row of dy and of x has its
// end in a register of its own, so that one index moves them all.
func overTile(f *neon.Function, sums [][]neon.V) {
	rows, width, at := f.Parameter("rows"), f.Parameter("vectors"), f.General()
	f.ShiftLeft(width, width, 4)
	pitch := func(name string) neon.R {
		r := f.Parameter(name)
		f.ShiftLeft(r, r, 2)
		f.Add(r, r, width)
		return r
	}
	pitchY, pitchX := pitch("pitchY"), pitch("pitchX")

	gradients, plane := []neon.R{f.Parameter("dy")}, f.Parameter("plane")
	f.Add(gradients[0], gradients[0], width)
	f.ShiftLeft(plane, plane, 2)
	for len(gradients) < len(sums[0]) {
		r := f.General()
		f.Add(r, gradients[len(gradients)-1], plane)
		gradients = append(gradients, r)
	}
	f.FreeGeneral(plane)
	taps := make([]neon.R, correlatedTaps)
	for t := range taps {
		taps[t] = f.General()
	}
	f.Scope(func() {
		x, offsets := f.Parameter("x"), f.Parameter("offsets")
		f.Add(x, x, width)
		for t, tap := range taps {
			f.LoadGeneral(tap, neon.At(offsets, 8*t))
			f.Add(tap, tap, x)
		}
	})

	f.Repeat(rows, "row", func() {
		f.Negate(at, width)
		f.Label("vector")
		samples, gradient := f.Vectors(correlatedTaps), f.Vectors(2)
		for t, tap := range taps {
			f.Load(bytes, samples[t], neon.Indexed(tap, at))
		}
		for k, row := range gradients {
			f.Load(bytes, gradient[k%2], neon.Indexed(row, at))
			for t, sample := range samples {
				f.FMLA(neon.S4, sums[t][k], sample, gradient[k%2])
			}
		}
		f.AddConstant(at, at, bytes)
		f.BranchNotZero(at, "vector")
		for _, row := range gradients {
			f.Add(row, row, pitchY)
		}
		for _, tap := range taps {
			f.Add(tap, tap, pitchX)
		}
	})
}
