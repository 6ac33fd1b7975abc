package operator

import "github.com/averaged/imaging/backend"

// Preconditioned is a Linear operator that knows an approximate inverse of I + τKᵀK, by which
// conjugate gradients need fewer products with K.
type Preconditioned interface {
	Linear
	// Preconditioner returns one for τ > 0, which the caller frees, or nil where K is so quick that
	// it would not pay.
	Preconditioner(tau float64) (Preconditioner, error)
}

// Preconditioner is a symmetric linear map M of images of K's domain, the same for every channel,
// with eigenvalues between 1/(1+τ‖K‖²) and 1 but for rounding, as those of (I + τKᵀK)⁻¹ are.
type Preconditioner interface {
	// Apply sets dst = M·src. They share no memory.
	Apply(dst, src backend.Buffer) error
	// Free gives the device's memory back. A second Free does nothing.
	Free()
}

// PreconditionerOf returns that of an operator, nil where it has none.
func PreconditionerOf(o Linear, tau float64) (Preconditioner, error) {
	if p, ok := o.(Preconditioned); ok {
		return p.Preconditioner(tau)
	}
	return nil, nil
}
