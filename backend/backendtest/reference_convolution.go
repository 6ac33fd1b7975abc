package backendtest

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// eachElement calls f for every index of an array.
func eachElement(s backend.Shape, f func(n, c, y, x int)) {
	for n := range s.N {
		for c := range s.C {
			for y := range s.H {
				for x := range s.W {
					f(n, c, y, x)
				}
			}
		}
	}
}

// inside returns the range of those k in [0, count) for which first+k is in
// [0, size).
func inside(count, first, size int) (lo, hi int) { return max(0, -first), min(count, size-first) }

// referenceConvolution sets dst = activation(A·src + bias). The filter w has
// shape (Out, In, KH, KW), so its index is (o, i, r, s); bias may be nil.
func referenceConvolution(dst, src, w tensor, bias *tensor, a backend.Activation) {
	eachElement(dst.Shape, func(n, o, y, x int) {
		sum := 0.0
		if bias != nil {
			sum = bias.v[o]
		}
		dst.v[dst.index(n, o, y, x)] = a.Apply(convolved(sum, src, w, n, o, y, x))
	})
}

// convolved adds to sum what A makes of src in output channel o of image n at (y, x).
// These loops and those of the adjoint are left out of the race detector's sight: they
// only read arrays, those of a test, and would take ten times as long.
//
//go:norace
func convolved(sum float64, src, w tensor, n, o, y, x int) float64 {
	top, left := y-w.H/2, x-w.W/2
	r0, r1 := inside(w.H, top, src.H)
	s0, s1 := inside(w.W, left, src.W)
	for i := range w.C {
		for r := r0; r < r1; r++ {
			weights, row := w.row(o, i, r), src.row(n, i, top+r)
			for s := s0; s < s1; s++ {
				sum += weights[s] * row[left+s]
			}
		}
	}
	return sum
}

// referenceConvolutionAdjoint sets dst = beta·dst + scale·Aᵀ·src. Sample (y, x)
// is multiplied by w[o,i,r,s] in the result at (y + r − KH/2, x + s − KW/2): the
// same window as that of A, with the weights counted from its other end.
func referenceConvolutionAdjoint(dst, src, w tensor, beta, scale float32) {
	eachElement(dst.Shape, func(n, i, v, u int) {
		blend(dst, dst.index(n, i, v, u), beta, float64(scale)*scattered(src, w, n, i, v, u))
	})
}

// scattered returns what Aᵀ makes of src in input channel i of image n at (v, u).
//
//go:norace
func scattered(src, w tensor, n, i, v, u int) float64 {
	sum := 0.0
	top, left := v-w.H/2, u-w.W/2
	r0, r1 := inside(w.H, top, src.H)
	s0, s1 := inside(w.W, left, src.W)
	for o := range w.N {
		for r := r0; r < r1; r++ {
			weights, row := w.row(o, i, w.H-1-r), src.row(n, o, top+r)
			for s := s0; s < s1; s++ {
				sum += weights[w.W-1-s] * row[left+s]
			}
		}
	}
	return sum
}

// referenceFilterGradient sets dw = beta·dw + scale·∂⟨dy, A·x⟩/∂w.
func referenceFilterGradient(dw, x, dy tensor, beta, scale float32) {
	eachElement(dw.Shape, func(o, i, r, s int) {
		sum := 0.0
		for n := range dy.N {
			for v := range dy.H {
				for u := range dy.W {
					// Beyond the frame there is nothing to multiply, not even a NaN.
					if y, x0 := v+r-dw.H/2, u+s-dw.W/2; y >= 0 && y < x.H && x0 >= 0 && x0 < x.W {
						sum += dy.at(n, o, v, u) * x.at(n, i, y, x0)
					}
				}
			}
		}
		blend(dw, dw.index(o, i, r, s), beta, float64(scale)*sum)
	})
}

// referenceBiasGradient sets db = beta·db + the sum of dy over all but channels.
func referenceBiasGradient(db, dy tensor, beta float32) {
	for c := range dy.C {
		sum := 0.0
		for n := range dy.N {
			for y := range dy.H {
				for x := range dy.W {
					sum += dy.at(n, c, y, x)
				}
			}
		}
		blend(db, c, beta, sum)
	}
}

// blend sets element i to beta times itself plus v; with beta = 0 the element is
// not read.
func blend(t tensor, i int, beta float32, v float64) {
	if beta != 0 {
		v += float64(beta) * t.v[i]
	}
	t.v[i] = v
}

// referenceActivationGradient sets dst = dy·activation'(·), given the output.
func referenceActivationGradient(dst, out, dy tensor, a backend.Activation) {
	for i, d := range dy.v {
		if a.Kind == backend.LeakyReLU && out.v[i] <= 0 {
			d *= float64(a.Slope)
		}
		dst.v[i] = d
	}
}

// spreadInTiles sets to NaN, channel by channel, every tile of grid×grid pixels
// that holds a NaN.
func spreadInTiles(t tensor, grid int) {
	type tile struct{ n, c, y, x int }
	spoiled := map[tile]bool{}
	eachElement(t.Shape, func(n, c, y, x int) {
		if math.IsNaN(t.at(n, c, y, x)) {
			spoiled[tile{n, c, y / grid, x / grid}] = true
		}
	})
	if len(spoiled) == 0 {
		return
	}
	eachElement(t.Shape, func(n, c, y, x int) {
		if spoiled[tile{n, c, y / grid, x / grid}] {
			t.v[t.index(n, c, y, x)] = math.NaN()
		}
	})
}

// referenceStep is backend.FlowStep in float64; bias and radius may be nil.
type referenceStep struct {
	w          tensor
	bias       *tensor
	radius     *tensor
	activation backend.Activation
	size       float32
	tableau    backend.Tableau
}

// referenceGradientFlow makes the steps over the whole image and sets dst inside the
// region. NaN spreads in tiles of grid×grid pixels; 1 is the definition.
func referenceGradientFlow(dst, src tensor, region backend.Region, steps []referenceStep, grid int) {
	s := src.Shape
	s.C = steps[0].w.C
	z := newTensor(s)
	copyPixels(z, 0, 0, src, src.Whole())
	for _, step := range steps {
		var k []tensor
		for i := range step.tableau.Stages() {
			y := z.clone()
			for j := range k {
				y.add(-float64(step.size)*step.tableau.A[i][j], k[j])
			}
			s.C = step.w.N
			u, v := newTensor(s), newTensor(z.Shape)
			referenceConvolution(u, y, step.w, step.bias, step.activation)
			spreadInTiles(u, grid)
			if step.radius != nil {
				referenceProjectBalls(u, u, *step.radius)
			}
			referenceConvolutionAdjoint(v, u, step.w, 0, 1)
			spreadInTiles(v, grid)
			k = append(k, v)
		}
		for i := range k {
			z.add(-float64(step.size)*step.tableau.Weight(i), k[i])
		}
	}
	copyPixels(dst, region.Y0, region.X0, z, region)
}

// copyPixels is CopyRegion.
func copyPixels(dst tensor, y, x int, src tensor, r backend.Region) {
	eachElement(dst.Shape, func(n, c, v, u int) {
		if fromY, fromX := v-y+r.Y0, u-x+r.X0; c < src.C && holds(r, fromY, fromX) {
			dst.v[dst.index(n, c, v, u)] = src.at(n, c, fromY, fromX)
		}
	})
}
