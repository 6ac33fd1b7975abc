package denoise

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// homogeneous is a body that maps s·x to s times the image of x for s > 0, were it not
// for its biases and radii: σ(s·x) = s·σ(x) for LeakyReLU and the identity, a projection onto
// balls has the same with radii s times as large, and all else is linear.
type homogeneous interface {
	// rescaled returns the body of s·Φ(x/s), which is the same with biases s·b and radii s·ρ.
	// It shares the filters; freeing it leaves them alone.
	rescaled(s float32) (body, error)
}

func (e *explicit) rescaled(s float32) (body, error) {
	own := &borrowing{explicit: explicit{dev: e.dev, tableau: e.tableau}}
	for _, b := range e.blocks {
		for _, v := range []*backend.Buffer{&b.bias, &b.balls} {
			if *v == nil {
				continue
			}
			scaled, err := e.dev.Alloc((*v).Shape())
			if err != nil {
				own.free()
				return nil, err
			}
			own.owned = append(own.owned, scaled)
			if err := e.dev.LinearCombination(scaled, backend.Term{A: s, X: *v}); err != nil {
				own.free()
				return nil, err
			}
			*v = scaled
		}
		if b.balls != nil { // radii have to be finite, and the largest ones hold everything
			if err := e.dev.Clip(b.balls, b.balls, 0, math.MaxFloat32); err != nil {
				own.free()
				return nil, err
			}
		}
		own.blocks = append(own.blocks, b)
	}
	like := newExplicit(e.dev, e.tableau, own.blocks)
	own.steps, own.reach = like.steps, like.reach
	return own, nil
}

// borrowing is an explicit network with biases and radii of its own and borrowed filters.
type borrowing struct {
	explicit
	owned []backend.Buffer
}

func (e *borrowing) free() {
	for _, b := range e.owned {
		b.Free()
	}
}
