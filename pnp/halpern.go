package pnp

import "github.com/averaged/imaging/backend"

// anchor draws every point back to the start: Halpern's iteration,
//
//	x_{k+1} = λ_k·x₀ + (1 − λ_k)·T(x_k),   λ_k = 1/(k+2).
//
// For a nonexpansive T with a fixed point x* it converges to the fixed point nearest to x₀
// (Halpern 1967, Wittmann 1992), and ‖x_k − T(x_k)‖ ≤ 2‖x₀ − x*‖/(k+1) (Lieder 2021,
// Theorem 2.1). The bound is attained, for every k: on the line by x − c above c/2 and −x
// below, c = 2x₀/(k+1).
//
// With errors e_k in computing T the points stay close to those x̂_k of the exact run: with
// E_k ≥ ‖x_k − x̂_k‖ also E_{k+1} = (k+1)/(k+2)·(E_k + ‖e_k‖) ≥ ‖x_{k+1} − x̂_{k+1}‖, and the
// residual is above that of the exact run by at most 2E_k. Here iteration.errors is
// E_k + ‖e_k‖.
type anchor struct {
	start backend.Buffer
}

func newAnchor(it *iteration) (*anchor, error) {
	start, err := it.dev.Alloc(it.x.Shape())
	if err != nil {
		return nil, err
	}
	if err := it.dev.LinearCombination(start, backend.Term{A: 1, X: it.x}); err != nil {
		start.Free()
		return nil, err
	}
	return &anchor{start}, nil
}

// advance sets x to the next point after n ≥ 1 steps.
func (a *anchor) advance(it *iteration) error {
	back := 1 / float64(it.n+1)
	it.x, it.next = it.next, it.x
	return it.dev.LinearCombination(it.x, backend.Term{A: float32(1 - back), X: it.x}, backend.Term{A: float32(back), X: a.start})
}

// shrink is what is left of an error of the step before when step n ≥ 1 is made.
func (a *anchor) shrink(n int) float64 { return float64(n-1) / float64(n) }

func (a *anchor) free() { a.start.Free() }
