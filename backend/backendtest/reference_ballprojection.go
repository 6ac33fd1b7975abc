package backendtest

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// eachBall calls f with every group of channels at every pixel: with the place of its radius,
// which is the number of the group unless the radii are a map, and the places of its channels.
func eachBall(v, radius tensor, f func(g int, at []int)) {
	size := v.C / radius.C
	at := make([]int, size)
	ofMap := radius.Shape != backend.Vector(radius.C)
	for n := range v.N {
		for group := range radius.C {
			for y := range v.H {
				for x := range v.W {
					for c := range at {
						at[c] = v.index(n, group*size+c, y, x)
					}
					g := group
					if ofMap {
						g = radius.index(n, group, y, x)
					}
					f(g, at)
				}
			}
		}
	}
}

// products is the inner product of two vectors.
func products(v, w tensor, at []int) float64 {
	var s sum
	for _, i := range at {
		s.add(v.v[i] * w.v[i])
	}
	return s.number().value
}

// referenceProjectBalls sets dst to the projection of src, which it may be.
func referenceProjectBalls(dst, src, radius tensor) {
	eachBall(src, radius, func(g int, at []int) {
		scale := 1.0
		if norm := math.Sqrt(products(src, src, at)); !(norm <= radius.v[g]) {
			scale = radius.v[g] / norm
		}
		for _, i := range at {
			dst.v[i] = src.v[i] * scale
		}
	})
}

// referenceProjectBallsGradient sets dst = P'(v)·dy and dradius = beta·dradius + the sum
// of ⟨v/‖v‖, dy⟩ over the vectors outside their balls. dst may be dy.
func referenceProjectBallsGradient(dst, dradius, v, dy, radius tensor, beta float32) {
	sums := make([]sum, radius.Len())
	eachBall(v, radius, func(g int, at []int) {
		norm := math.Sqrt(products(v, v, at))
		if norm <= radius.v[g] {
			for _, i := range at {
				dst.v[i] = dy.v[i]
			}
			return
		}
		along := products(v, dy, at) / norm
		sums[g].add(along)
		for _, i := range at {
			dst.v[i] = radius.v[g] / norm * (dy.v[i] - v.v[i]/norm*along)
		}
	})
	for g := range sums {
		blend(dradius, g, beta, sums[g].number().value)
	}
}
