package pnp

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
)

// resolvent solves (I + τKᵀK)w = b by conjugate gradients (Hestenes and Stiefel 1952),
// b = ∇E(x) of one iteration after the other, each from the w before.
type resolvent struct {
	it    *iteration
	root  float64        // √(1 + τ‖K‖²), of the condition number
	w     backend.Buffer // the solution
	begun bool           // w is not zero

	// size bounds ‖w‖, and drift bounds by how much the residual of w and the one that the
	// iteration computes differ by rounding, after solve.
	size, drift float64
}

func newResolvent(it *iteration, square float64) (*resolvent, error) {
	r := &resolvent{it: it, root: math.Sqrt(1 + it.tau*square)}
	var err error
	r.w, err = it.dev.Alloc(it.x.Shape())
	return r, err
}

// solve returns the solution for the right-hand side it.moved, which it overwrites with
// the residual, as it does with it.misfit and it.next. The error of w is at most the norm
// of the residual, which is returned, because I + τKᵀK ≥ I. That is at most
// allowed, unless rounding allows no better.
func (r *resolvent) solve(ctx context.Context, allowed float64) (w backend.Buffer, residual float64, err error) {
	it, d, tau := r.it, r.it.dev, r.it.tau
	rest, image := it.moved, it.next
	p, err := d.Alloc(it.x.Shape()) // the direction
	if err != nil {
		return nil, 0, err
	}
	defer p.Free()
	term := func(a float64, x backend.Buffer) backend.Term { return backend.Term{A: float32(a), X: x} }
	if r.begun {
		// rest = b − w − τKᵀKw.
		if err := it.k.Apply(it.misfit, r.w); err != nil {
			return nil, 0, err
		}
		if err := it.k.Adjoint(image, it.misfit); err != nil {
			return nil, 0, err
		}
		if err := d.LinearCombination(rest, term(1, rest), term(-1, r.w), term(-tau, image)); err != nil {
			return nil, 0, err
		}
	}
	if err := d.LinearCombination(p, term(1, rest)); err != nil {
		return nil, 0, err
	}
	var square [1]float64
	var begin [2]float64
	if err := d.Reduce(begin[:], backend.Reduction{Kind: backend.SumSquares, X: rest}, backend.Reduction{Kind: backend.SumSquares, X: r.w}); err != nil {
		return nil, 0, err
	}
	square[0] = begin[0]
	r.size, r.drift = math.Sqrt(begin[1]), 0
	if r.begun {
		r.drift = r.rounding(r.size, math.Sqrt(begin[0]))
	}
	r.begun = true
	// In exact arithmetic √κ·ln(2√κ‖rest‖/allowed)/2 steps are enough, κ = 1 + τ‖K‖² (the
	// residual falls by 2√κ·((√κ−1)/(√κ+1))ⁿ); rounding gets as many again. What is 10⁷
	// times smaller than the residual at the beginning float32 cannot resolve.
	limit := 10 + r.root*math.Log(2*r.root*math.Min(math.Sqrt(square[0])/allowed, 1e7))
	for n := 0; math.Sqrt(square[0]) > allowed && float64(n) < limit; n++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if err := it.k.Apply(it.misfit, p); err != nil {
			return nil, 0, err
		}
		if err := it.k.Adjoint(image, it.misfit); err != nil {
			return nil, 0, err
		}
		// ⟨p, (I + τKᵀK)p⟩ = ‖p‖² + τ‖Kp‖².
		var sizes [2]float64
		if err := d.Reduce(sizes[:],
			backend.Reduction{Kind: backend.SumSquares, X: p},
			backend.Reduction{Kind: backend.SumSquares, X: it.misfit}); err != nil {
			return nil, 0, err
		}
		step := square[0] / (sizes[0] + tau*sizes[1])
		if err := d.LinearCombination(r.w, term(1, r.w), term(step, p)); err != nil {
			return nil, 0, err
		}
		if err := d.LinearCombination(rest, term(1, rest), term(-step, p), term(-step*tau, image)); err != nil {
			return nil, 0, err
		}
		along := step * math.Sqrt(sizes[0])
		r.size += along
		r.drift += r.rounding(along, math.Sqrt(square[0])+along*r.root*r.root) + 2*unit*(r.size+along)*r.root*r.root
		before := square[0]
		if err := d.Reduce(square[:], backend.Reduction{Kind: backend.SumSquares, X: rest}); err != nil {
			return nil, 0, err
		}
		if err := d.LinearCombination(p, term(1, rest), term(square[0]/before, p)); err != nil {
			return nil, 0, err
		}
	}
	return r.w, math.Sqrt(square[0]), nil
}

// rounding bounds what float32 adds to a residual when (I + τKᵀK)v is taken from it, for ‖v‖ =
// size and a residual no longer than rest before and after: K and Kᵀ round, and so do four
// products and sums with their factors.
func (r *resolvent) rounding(size, rest float64) float64 {
	a := &r.it.arithmetic
	image := a.norm * a.norm * size
	return r.it.tau*(2*a.operator*a.norm*size+a.operator*a.operator*size) + 6*unit*(rest+size+r.it.tau*image)
}

func (r *resolvent) free() {
	if r.w != nil {
		r.w.Free()
	}
}
