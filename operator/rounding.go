package operator

import "math"

// Rounded is a Linear operator that can bound what float32 adds to it.
type Rounded interface {
	Linear
	// Rounding returns a bound r of the error that float32 adds to Apply and to Adjoint: at most r times the
	// Euclidean norm of their argument, and backend.BlurUnderflow·(1+r)·√n more, n the larger number of samples
	// of domain and range. It is +Inf if nothing is proven.
	Rounding() (r float64, err error)
}

// RoundingOf returns the operator's bound, or +Inf if it is not Rounded.
func RoundingOf(o Linear) (r float64, err error) {
	if rounded, ok := o.(Rounded); ok {
		return rounded.Rounding()
	}
	return math.Inf(1), nil
}

// Rounding implements Rounded: the second operator passes the error of the first on and adds its own.
func (c *Composition) Rounding() (r float64, err error) {
	outer, err := RoundingOf(c.outer)
	if err != nil {
		return 0, err
	}
	inner, err := RoundingOf(c.inner)
	if err != nil {
		return 0, err
	}
	a, _ := c.outer.Norm()
	b, _ := c.inner.Norm()
	return (outer*(b+inner) + a*inner) * (1 + 0x1p-50), nil
}
