package pnp

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// momentum is the state of Nesterov's weights.
type momentum struct {
	t            float64 // Nesterov's t_k; 0 before the first step
	first, least float64 // the first residual, and the least since the last start
}

// The moves may be budget·r₀/k^decay long: so long that they are hardly ever
// cut short, and their sum is finite.
const (
	budget = 100
	decay  = 1.1
)

// accelerate sets x to the next point, next + m·(next − last), and last to next.
func (it *iteration) accelerate() error {
	m := &it.momentum
	if m.t == 0 {
		m.t, m.first, m.least = 1, it.residual, it.residual
		it.x, it.last, it.next = it.last, it.next, it.x
		return it.dev.LinearCombination(it.x, backend.Term{A: 1, X: it.last})
	}
	// ⟨x − next, next − last⟩ by the law of cosines, in one round trip.
	var sums [3]float64
	if err := it.dev.Reduce(sums[:],
		backend.Reduction{Kind: backend.DiffSquares, X: it.x, Y: it.last},
		backend.Reduction{Kind: backend.DiffSquares, X: it.x, Y: it.next},
		backend.Reduction{Kind: backend.DiffSquares, X: it.next, Y: it.last}); err != nil {
		return err
	}
	weight := 0.0
	if sums[0]-sums[1]-sums[2] > 0 || it.residual > 1.1*m.least {
		m.t, m.least = 1, it.residual
	} else {
		m.least = math.Min(m.least, it.residual)
		t := (1 + math.Sqrt(1+4*m.t*m.t)) / 2
		weight = (m.t - 1) / t
		m.t = t
	}
	if move := weight * math.Sqrt(sums[2]); move > 0 {
		allowed := budget * m.first / math.Pow(float64(it.n), decay)
		weight *= math.Min(1, allowed/move)
		it.errors += math.Min(move, allowed)
	}
	// x is free now: the point it held has been used.
	it.x, it.last, it.next = it.last, it.next, it.x
	return it.dev.LinearCombination(it.x, backend.Term{A: float32(1 + weight), X: it.last}, backend.Term{A: float32(-weight), X: it.x})
}
