package main

import "github.com/averaged/imaging/backend/cpu/_asm/neon"

// sumLanes is how many lanes of float64 a sum has: element i is added to lane
// i mod sumLanes.
const sumLanes = block

// reduction is a sum over the elements of one array or of two.
type reduction struct {
	name   string
	loop   string // in Go
	arrays int
	// term turns float64 vectors of the arrays into what is added up, over x.
	term func(f *neon.Function, x, y neon.V)
}

var reductions = []reduction{
	{"sum", "sumPortable", 1, func(*neon.Function, neon.V, neon.V) {}},
	{"squares", "dotPortable of x with itself", 1, func(f *neon.Function, x, _ neon.V) { f.FMUL(neon.D2, x, x, x) }},
	{"dot", "dotPortable", 2, func(f *neon.Function, x, y neon.V) { f.FMUL(neon.D2, x, x, y) }},
	{"distance", "distancePortable", 2, func(f *neon.Function, x, y neon.V) {
		f.FSUB(neon.D2, x, x, y)
		f.FMUL(neon.D2, x, x, x)
	}},
}

// reduce emits a reduction. Blocks are added to lanes in registers, and the
// elements that remain, fewer than there are lanes, to lanes in memory.
func reduce(p *neon.Program, r reduction) {
	signature := "func(x *float32, n int, sums *[16]float64)"
	if r.arrays == 2 {
		signature = "func(x, y *float32, n int, sums *[16]float64)"
	}
	f := begin(p, r.name, signature, r.loop)
	x, n, memory := f.Parameter("x"), f.Parameter("n"), f.Parameter("sums")
	arrays := []neon.R{x}
	if r.arrays == 2 {
		arrays = append(arrays, f.Parameter("y"))
	}
	sums := f.Vectors(sumLanes / 2)
	for k := 0; k < len(sums); k += 2 {
		f.LoadPair(sums[k], sums[k+1], neon.At(memory, 16*k))
	}
	// add adds the terms of one vector from every array, widened, to sum.
	add := func(sum neon.V, wide []neon.V) {
		r.term(f, wide[0], wide[len(wide)-1])
		f.FADD(neon.D2, sum, sum, wide[0])
	}
	along(f, n, block, "blocks", func() {
		var narrow [][]neon.V
		for _, a := range arrays {
			narrow = append(narrow, part{f: f, vectors: block / 4}.load(a))
		}
		for k := range block / 4 {
			wide := [2][]neon.V{f.Vectors(len(arrays)), f.Vectors(len(arrays))}
			for i := range arrays {
				f.FCVTL(wide[0][i], narrow[i][k])
				f.FCVTL2(wide[1][i], narrow[i][k])
			}
			add(sums[2*k], wide[0])
			add(sums[2*k+1], wide[1])
			f.Free(wide[0]...)
			f.Free(wide[1]...)
		}
	}, arrays...)
	for k := 0; k < len(sums); k += 2 {
		f.StorePair(sums[k], sums[k+1], neon.At(memory, 16*k))
	}
	along(f, n, 1, "elements", func() {
		var wide []neon.V
		for _, a := range arrays {
			v := part{f: f}.load(a)[0]
			f.FCVTL(v, v)
			wide = append(wide, v)
		}
		sum := f.Vector()
		f.Load(8, sum, neon.At(memory, 0))
		add(sum, wide)
		f.Store(8, sum, neon.At(memory, 0))
		f.AddConstant(memory, memory, 8)
	}, arrays...)
	f.Return()
}
