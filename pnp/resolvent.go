package pnp

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// resolvent solves (I + τKᵀK)w = ∇E(x) by conjugate gradients (Hestenes and Stiefel 1952), for one
// x after the other, each from the w before. Where the operator knows one they are preconditioned.
type resolvent struct {
	it     *iteration
	near   operator.Preconditioner // (I + τKᵀK)⁻¹, nearly; or nil
	root   float64                 // √(1 + τ‖K‖²), of the condition number
	square float64                 // ‖K‖²
	w      backend.Buffer          // the solution
	begun  bool                    // w is not zero

	// size bounds ‖w‖, and drift bounds by how much the residual of w and the one that the
	// iteration computes differ by rounding, after solve.
	size, drift float64
}

func newResolvent(it *iteration, square float64) (*resolvent, error) {
	r := &resolvent{it: it, root: math.Sqrt(1 + it.tau*square), square: square}
	var err error
	if r.near, err = operator.PreconditionerOf(it.k, it.tau); err != nil {
		return r, err
	}
	r.w, err = it.dev.Alloc(it.x.Shape())
	return r, err
}

// solve returns the solution, given in it.moved the gradient ∇E(v) at v = x − τw, and the norms of x
// and of w. The residual of w, and with it the first one, is
//
//	∇E(x) − (I + τKᵀK)w = ∇E(x − τw) − w,
//
// so that to begin with w costs no product with K of its own. it.moved is overwritten with the
// residual of the solution, it.misfit and it.next with anything. The error of w is at most the norm of
// the residual, which is returned, because I + τKᵀK ≥ I, however w was found. That is at most allowed,
// unless rounding allows no better.
func (r *resolvent) solve(ctx context.Context, allowed, point, size float64) (w backend.Buffer, residual float64, err error) {
	it, d, tau := r.it, r.it.dev, r.it.tau
	rest, image := it.moved, it.next
	term := func(a float64, x backend.Buffer) backend.Term { return backend.Term{A: float32(a), X: x} }
	if r.begun {
		if err := d.LinearCombination(rest, term(1, rest), term(-1, r.w)); err != nil {
			return nil, 0, err
		}
	}
	var square [1]float64 // ‖rest‖²
	if err := d.Reduce(square[:], backend.Reduction{Kind: backend.SumSquares, X: rest}); err != nil {
		return nil, 0, err
	}
	r.size, r.drift = size, 0
	if r.begun {
		// v is off by two roundings, and what is left by one.
		r.drift = unit * (1 + 1e-6) * (r.square*(2*tau*size+point) + math.Sqrt(square[0]))
	}
	r.begun = true
	if !(math.Sqrt(square[0]) > allowed) {
		return r.w, math.Sqrt(square[0]), nil
	}
	p, err := d.Alloc(it.x.Shape()) // the direction
	if err != nil {
		return nil, 0, err
	}
	defer p.Free()
	// In exact arithmetic √κ·ln(2√κ‖rest‖/allowed)/2 steps are enough, κ = 1 + τ‖K‖² (the
	// residual falls by 2√κ·((√κ−1)/(√κ+1))ⁿ); rounding gets as many again. What is 10⁷
	// times smaller than the residual at the beginning float32 cannot resolve. With a preconditioner,
	// whose condition number is no larger than κ, √κ becomes κ at most.
	root := r.root
	if r.near != nil {
		root *= r.root
	}
	limit := 10 + root*math.Log(2*root*math.Min(math.Sqrt(square[0])/allowed, 1e7))
	before := 0.0
	for n := 0; math.Sqrt(square[0]) > allowed && float64(n) < limit; n++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		// The next direction is M·rest and a part of the one before; along is ⟨rest, M·rest⟩.
		turned, along := rest, square[0]
		if r.near != nil {
			if turned = image; n == 0 {
				turned = p
			}
			if err := r.near.Apply(turned, rest); err != nil {
				return nil, 0, err
			}
			var dot [1]float64
			if err := d.Reduce(dot[:], backend.Reduction{Kind: backend.Dot, X: rest, Y: turned}); err != nil {
				return nil, 0, err
			}
			along = dot[0]
		}
		terms := []backend.Term{term(1, turned), term(along/before, p)}
		if n == 0 {
			terms = terms[:1]
		}
		if turned != p {
			if err := d.LinearCombination(p, terms...); err != nil {
				return nil, 0, err
			}
		}
		before = along
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
		step := along / (sizes[0] + tau*sizes[1])
		if err := d.LinearCombination(r.w, term(1, r.w), term(step, p)); err != nil {
			return nil, 0, err
		}
		if err := d.LinearCombination(rest, term(1, rest), term(-step, p), term(-step*tau, image)); err != nil {
			return nil, 0, err
		}
		way := step * math.Sqrt(sizes[0])
		r.size += way
		r.drift += r.rounding(way, math.Sqrt(square[0])+way*r.root*r.root) + 2*unit*(r.size+way)*r.root*r.root
		if err := d.Reduce(square[:], backend.Reduction{Kind: backend.SumSquares, X: rest}); err != nil {
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
	return r.it.tau*(2*a.operator*a.norm*size+a.operator*a.operator*size+(1+a.norm)*a.tiny) + 6*unit*(rest+size+r.it.tau*image) + a.tiny
}

func (r *resolvent) free() {
	if r.near != nil {
		r.near.Free()
	}
	if r.w != nil {
		r.w.Free()
	}
}
