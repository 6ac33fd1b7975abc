package denoise

import "github.com/averaged/imaging/backend"

// homogeneous is a body that maps s·x to s times the image of x for s > 0, were it not
// for its biases: σ(s·x) = s·σ(x) for LeakyReLU and the identity, and all else is
// linear.
type homogeneous interface {
	// rescaled returns the body of s·Φ(x/s), which is the same with biases s·b. It shares
	// the filters; freeing it leaves them alone.
	rescaled(s float32) (body, error)
}

func (e *explicit) rescaled(s float32) (body, error) {
	own := &rescaledExplicit{explicit: explicit{dev: e.dev, tableau: e.tableau}}
	for _, b := range e.blocks {
		if b.bias != nil {
			scaled, err := e.dev.Alloc(b.bias.Shape())
			if err != nil {
				own.free()
				return nil, err
			}
			own.biases = append(own.biases, scaled)
			if err := e.dev.LinearCombination(scaled, backend.Term{A: s, X: b.bias}); err != nil {
				own.free()
				return nil, err
			}
			b.bias = scaled
		}
		own.blocks = append(own.blocks, b)
	}
	own.steps = newExplicit(e.dev, e.tableau, own.blocks).steps
	return own, nil
}

// rescaledExplicit is an explicit network with biases of its own and borrowed filters.
type rescaledExplicit struct {
	explicit
	biases []backend.Buffer
}

func (e *rescaledExplicit) free() {
	for _, b := range e.biases {
		b.Free()
	}
}
