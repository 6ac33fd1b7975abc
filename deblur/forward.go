package deblur

import "github.com/averaged/imaging/backend"

// Forward is a linear map from an unknown image to measurements, the same for every
// channel: what an iteration needs of it. Operator, Mask, Downsampling and Composition
// are such maps.
type Forward interface {
	// Domain returns the rows and columns of the unknown image.
	Domain() (h, w int)
	// Range returns the rows and columns of the measurements.
	Range() (h, w int)
	// Apply sets dst = K·src.
	Apply(dst, src backend.Buffer) error
	// Adjoint sets dst = Kᵀ·src.
	Adjoint(dst, src backend.Buffer) error
	// Norm returns an upper bound of ‖K‖ that is a proof, and the reason.
	Norm() (bound float64, reason string)
}

var _ = []Forward{(*Operator)(nil), (*Mask)(nil), (*Downsampling)(nil), (*Composition)(nil)}
