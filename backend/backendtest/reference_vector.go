package backendtest

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// referenceCombination sets dst to Σ aₖ·xₖ.
func referenceCombination(dst tensor, a []float32, x []tensor) {
	for i := range dst.v {
		s := float64(a[0]) * x[0].v[i]
		for k := 1; k < len(a); k++ {
			s += float64(a[k]) * x[k].v[i]
		}
		dst.v[i] = s
	}
}

// referenceProduct multiplies element by element; the product of two float32 is exact in
// float64, and rounded once.
func referenceProduct(dst, x, y tensor) {
	for i, a := range x.v {
		dst.v[i] = float64(float32(a * y.v[i]))
	}
}

// referenceClip projects onto [lo, hi]; math.Max and math.Min return NaN for NaN.
func referenceClip(dst, src tensor, lo, hi float32) {
	for i, x := range src.v {
		dst.v[i] = math.Min(math.Max(x, float64(lo)), float64(hi))
	}
}

// referenceMix applies the matrix m to the channels.
func referenceMix(dst, src tensor, m []float32) {
	for n := range dst.N {
		for i := range dst.C {
			for y := range dst.H {
				for x := range dst.W {
					s := 0.0
					for j := range src.C {
						s += float64(m[i*src.C+j]) * src.at(n, j, y, x)
					}
					dst.v[dst.index(n, i, y, x)] = s
				}
			}
		}
	}
}

// referenceReduction is one sum over all elements; y is not used by SumSquares.
func referenceReduction(kind backend.ReductionKind, x, y tensor) number {
	var s sum
	for i, a := range x.v {
		switch kind {
		case backend.Dot:
			s.add(a * y.v[i])
		case backend.SumSquares:
			s.add(a * a)
		case backend.DiffSquares:
			s.add((a - y.v[i]) * (a - y.v[i]))
		}
	}
	return s.number()
}

// referenceGaussian rounds as the interface says: the product to float32, then
// the sum to float32.
func referenceGaussian(dst tensor, seed uint64, mean, std float32) {
	for i := range dst.v {
		scaled := float32(std * backend.GaussianAt(seed, uint64(i)))
		dst.v[i] = float64(float32(mean + scaled))
	}
}
