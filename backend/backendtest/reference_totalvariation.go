package backendtest

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// referenceGradient is ∇u: forward differences, zero in the last row and the last
// column; channels 2c (down) and 2c+1 (right) belong to channel c.
func referenceGradient(u tensor) tensor {
	g := newTensor(backend.Image(2*u.C, u.H, u.W))
	for c := range u.C {
		for y := range u.H {
			for x := range u.W {
				if y+1 < u.H {
					g.v[g.index(0, 2*c, y, x)] = u.at(0, c, y+1, x) - u.at(0, c, y, x)
				}
				if x+1 < u.W {
					g.v[g.index(0, 2*c+1, y, x)] = u.at(0, c, y, x+1) - u.at(0, c, y, x)
				}
			}
		}
	}
	return g
}

// referenceGradientAdjoint is ∇ᵀp: every difference hands its weight back to the
// two samples that it was made of.
func referenceGradientAdjoint(p tensor) tensor {
	u := newTensor(backend.Image(p.C/2, p.H, p.W))
	for c := range u.C {
		for y := range u.H {
			for x := range u.W {
				if y+1 < u.H {
					u.v[u.index(0, c, y+1, x)] += p.at(0, 2*c, y, x)
					u.v[u.index(0, c, y, x)] -= p.at(0, 2*c, y, x)
				}
				if x+1 < u.W {
					u.v[u.index(0, c, y, x+1)] += p.at(0, 2*c+1, y, x)
					u.v[u.index(0, c, y, x)] -= p.at(0, 2*c+1, y, x)
				}
			}
		}
	}
	return u
}

// referenceTarget is r = y − ∇ᵀp.
func referenceTarget(p, y tensor) tensor {
	r := referenceGradientAdjoint(p)
	for i := range r.v {
		r.v[i] = y.v[i] - r.v[i]
	}
	return r
}

// referencePrimal makes u ← u + step·(r − u); with step 1 the old u is not read.
func referencePrimal(u, p, y tensor, step float32) {
	for i, r := range referenceTarget(p, y).v {
		if step == 1 {
			u.v[i] = r
		} else {
			u.v[i] += float64(step) * (r - u.v[i])
		}
	}
}

// pixelNorms calls f with the first and the last channel (exclusive) over which a
// norm runs and its value, for every pixel and every group of channels.
func pixelNorms(p tensor, coupled bool, f func(from, to, y, x int, norm float64)) {
	group := 2
	if coupled {
		group = p.C
	}
	for from := 0; from < p.C; from += group {
		for y := range p.H {
			for x := range p.W {
				s := 0.0
				for c := from; c < from+group; c++ {
					s += p.at(0, c, y, x) * p.at(0, c, y, x)
				}
				f(from, from+group, y, x, math.Sqrt(s))
			}
		}
	}
}

// referenceProjection projects p onto the balls of radius α in place.
func referenceProjection(p tensor, problem backend.TVProblem) {
	alpha := float64(problem.Alpha)
	pixelNorms(p, problem.Coupled, func(from, to, y, x int, norm float64) {
		if norm > alpha {
			for c := from; c < to; c++ {
				p.v[p.index(0, c, y, x)] *= alpha / norm
			}
		}
	})
}

// referenceIterate makes one step of TVIterate on u and p.
func referenceIterate(u, p, y tensor, problem backend.TVProblem, step backend.TVStep) {
	r := referenceTarget(p, y)
	extrapolated := newTensor(u.Shape)
	for i := range u.v {
		u.v[i] += float64(step.Primal) * (r.v[i] - u.v[i])
		extrapolated.v[i] = u.v[i] + float64(step.Extrapolation)*(r.v[i]-u.v[i])
	}
	g := referenceGradient(extrapolated)
	for i := range p.v {
		p.v[i] += float64(step.Dual) * g.v[i]
	}
	referenceProjection(p, problem)
}

// referenceEvaluate returns fidelity, variation, residual and product.
func referenceEvaluate(u, p, y tensor, problem backend.TVProblem) []number {
	var fidelity, variation, residual sum
	for i, r := range referenceTarget(p, y).v {
		fidelity.add((u.v[i] - y.v[i]) * (u.v[i] - y.v[i]) / 2)
		residual.add((u.v[i] - r) * (u.v[i] - r) / 2)
	}
	g := referenceGradient(u)
	pixelNorms(g, problem.Coupled, func(_, _, _, _ int, norm float64) {
		variation.add(float64(problem.Alpha) * norm)
	})
	feasible := p.clone()
	referenceProjection(feasible, problem)
	return []number{fidelity.number(), variation.number(), residual.number(), inner(g, feasible)}
}
