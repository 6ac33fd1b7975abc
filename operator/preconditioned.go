package operator

import "github.com/averaged/imaging/backend"

// Preconditioned is a Linear operator that knows an approximate inverse of I + τKᵀK. With it conjugate
// gradients need fewer products with K.
type Preconditioned interface {
	Linear
	// Preconditioner returns the approximate inverse for τ > 0, which the caller frees. It returns nil if K
	// is too fast for a preconditioner to save time.
	Preconditioner(tau float64) (Preconditioner, error)
}

// Preconditioner is a symmetric linear map M of images of K's domain, the same for every channel. Up to
// rounding, its eigenvalues are between 1/(1+τ‖K‖²) and 1, like those of (I + τKᵀK)⁻¹.
type Preconditioner interface {
	// Apply sets dst = M·src. They share no memory.
	Apply(dst, src backend.Buffer) error
	// Free gives the device's memory back. A second Free does nothing.
	Free()
}

// PreconditionerOf returns the preconditioner of an operator, or nil if it has none.
func PreconditionerOf(o Linear, tau float64) (Preconditioner, error) {
	if p, ok := o.(Preconditioned); ok {
		return p.Preconditioner(tau)
	}
	return nil, nil
}
