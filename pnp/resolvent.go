package pnp

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// resolvent solves (I + τKᵀK)w = ∇E(x) by conjugate gradients (Hestenes and Stiefel 1952), for one
// x after the other, each from the w before. Where the operator knows one they are preconditioned.
//
// It has no image of its own. It keeps τw in it.moved between two data steps. While the denoiser
// looks at the result x − τw, that is there, and recall makes τw of it again.
type resolvent struct {
	near   operator.Preconditioner // (I + τKᵀK)⁻¹, nearly; or nil
	root   float64                 // √(1 + τ‖K‖²), of the condition number
	square float64                 // ‖K‖²
	begun  bool                    // w is not zero
	taken  bool                    // it.moved has x − τw
}

func newResolvent(it *iteration, square float64) (r *resolvent, err error) {
	r = &resolvent{root: math.Sqrt(1 + it.tau*square), square: square}
	r.near, err = operator.PreconditionerOf(it.k, it.tau)
	return r, err
}

// recall sets it.moved to the τw that the next data step begins with, if it has the result of the last.
// Where x has changed since then that is another one: any is good enough to begin with.
func (it *iteration) recall() error {
	if it.resolvent == nil || !it.resolvent.taken {
		return nil
	}
	it.resolvent.taken = false
	return it.dev.LinearCombination(it.moved, backend.Term{A: 1, X: it.x}, backend.Term{A: -1, X: it.moved})
}

// solve sets p.moved to τw for the solution w, given the gradient ∇E(v) at v = x − τw in the first room, and the norms
// of x and of w. The residual of w, and with it the first one, is
//
//	∇E(x) − (I + τKᵀK)w = ∇E(x − τw) − w,
//
// so that to begin with w costs no product with K of its own. The rooms and p.misfit are overwritten with
// anything. The error of w is at most the norm of the residual, which is returned, because I + τKᵀK ≥ I,
// however w was found. That is at most allowed, unless rounding allows no better. p.size then bounds ‖w‖, and
// p.drift bounds by how much the residual of w and the one that the iteration computes differ by rounding.
func (p *part) solve(ctx context.Context, allowed, point, size float64) (residual float64, err error) {
	r, d, tau := p.it.resolvent, p.it.dev, p.it.tau
	rest, image, direction := p.rooms[0], p.rooms[1], p.rooms[2]
	term := func(a float64, x backend.Buffer) backend.Term { return backend.Term{A: float32(a), X: x} }
	if r.begun {
		if err := d.LinearCombination(rest, term(1, rest), term(-1/tau, p.moved)); err != nil {
			return 0, err
		}
	}
	var square [1]float64 // ‖rest‖²
	if err := d.Reduce(square[:], backend.Reduction{Kind: backend.SumSquares, X: rest}); err != nil {
		return 0, err
	}
	p.size, p.drift = size, 0
	if r.begun {
		// v is off by a rounding, and what is left by one, and by two of w.
		p.drift = unit * (1 + 1e-6) * (r.square*(2*tau*size+point) + math.Sqrt(square[0]) + 2*size)
	}
	if !(math.Sqrt(square[0]) > allowed) {
		return math.Sqrt(square[0]), nil
	}
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
			return 0, err
		}
		// The next direction is M·rest and a part of the one before; along is ⟨rest, M·rest⟩.
		turned, along := rest, square[0]
		if r.near != nil {
			if turned = image; n == 0 {
				turned = direction
			}
			if err := r.near.Apply(turned, rest); err != nil {
				return 0, err
			}
			var dot [1]float64
			if err := d.Reduce(dot[:], backend.Reduction{Kind: backend.Dot, X: rest, Y: turned}); err != nil {
				return 0, err
			}
			along = dot[0]
		}
		terms := []backend.Term{term(1, turned), term(along/before, direction)}
		if n == 0 {
			terms = terms[:1]
		}
		if turned != direction {
			if err := d.LinearCombination(direction, terms...); err != nil {
				return 0, err
			}
		}
		before = along
		if err := p.k.Apply(p.misfit, direction); err != nil {
			return 0, err
		}
		if err := p.k.Adjoint(image, p.misfit); err != nil {
			return 0, err
		}
		// ⟨p, (I + τKᵀK)p⟩ = ‖p‖² + τ‖Kp‖².
		var sizes [2]float64
		if err := d.Reduce(sizes[:],
			backend.Reduction{Kind: backend.SumSquares, X: direction},
			backend.Reduction{Kind: backend.SumSquares, X: p.misfit}); err != nil {
			return 0, err
		}
		step := along / (sizes[0] + tau*sizes[1])
		if err := d.LinearCombination(p.moved, term(1, p.moved), term(step*tau, direction)); err != nil {
			return 0, err
		}
		if err := d.LinearCombination(rest, term(1, rest), term(-step, direction), term(-step*tau, image)); err != nil {
			return 0, err
		}
		way := step * math.Sqrt(sizes[0])
		p.size += way
		p.drift += p.rounding(way, math.Sqrt(square[0])+way*r.root*r.root) + 2*unit*(p.size+way)*r.root*r.root
		if err := d.Reduce(square[:], backend.Reduction{Kind: backend.SumSquares, X: rest}); err != nil {
			return 0, err
		}
	}
	return math.Sqrt(square[0]), nil
}

// rounding bounds what float32 adds to a residual when (I + τKᵀK)v is taken from it, for ‖v‖ =
// size and a residual no longer than rest before and after: K and Kᵀ round, and so do four
// products and sums with their factors.
func (p *part) rounding(size, rest float64) float64 {
	a := &p.it.arithmetic
	image := a.norm * a.norm * size
	return p.it.tau*(2*a.operator*a.norm*size+a.operator*a.operator*size+(1+a.norm)*a.tiny) + 6*unit*(rest+size+p.it.tau*image) + a.tiny
}

func (r *resolvent) free() {
	if r.near != nil {
		r.near.Free()
	}
}
