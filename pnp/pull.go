package pnp

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// pull makes a contraction of T by drawing its values a little towards the start,
//
//	T_q(x) = (1−q)·x₀ + q·T(x),
//
// whose Lipschitz constant is q times that of T. Unlike Halpern's the pull does not fade: the
// fixed point x_q is another one, the only one of T_q, with ‖x_q − T(x_q)‖ = (1/q−1)·‖x₀ − x_q‖,
// and as q goes to 1 it goes to the fixed point of T that is nearest to x₀ (Browder 1967).
type pull struct {
	start backend.Buffer
	q     float32
}

func newPull(it *iteration, q float64) (*pull, error) {
	a, err := newAnchor(it)
	if err != nil {
		return nil, err
	}
	return &pull{a.start, onDevice(q)}, nil
}

// onDevice returns the q that the device multiplies by: no larger than what is asked for.
func onDevice(q float64) float32 {
	rounded := float32(q)
	if float64(rounded) > q {
		rounded = math.Nextafter32(rounded, 0)
	}
	return rounded
}

// apply makes T_q(x) of T(x) in it.next.
func (p *pull) apply(it *iteration) error {
	return it.dev.LinearCombination(it.next, backend.Term{A: p.q, X: it.next}, backend.Term{A: 1 - p.q, X: p.start})
}

func (p *pull) free() { p.start.Free() }
