package deblurring

import (
	"errors"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/operator"
)

// blurring is a blur that Deblur removes.
type blurring interface {
	operator.Linear
	// Crop, Extend and Wiener are those of deblur.Operator.
	Crop(dst, src []float32) error
	Extend(dst, src []float32) error
	Wiener(dst, src backend.Buffer, nsr float64) error
	Free()
}

// ErrBoundary is about a boundary other than deblur.Unknown for a blur that varies.
var ErrBoundary = errors.New("the boundary of a blur that varies must be deblur.Unknown")

// Blur is a blur before the size of the photograph is known.
type Blur struct {
	typical  deblur.Kernel // that rules of strength go by
	kernels  deblur.Grid
	operator func(dev backend.Device, boundary deblur.Boundary, h, w int) (blurring, error)
}

// Kernels are those of the blur, one where it is the same all over the frame.
func (b Blur) Kernels() deblur.Grid { return b.kernels }

// OneKernel is a blur that is the same all over the frame.
func OneKernel(k deblur.Kernel) Blur {
	return Blur{k, deblur.OneKernel(k), func(dev backend.Device, boundary deblur.Boundary, h, w int) (blurring, error) {
		return deblur.New(dev, k, boundary, h, w)
	}}
}

// ManyKernels is a blur that varies over the frame.
func ManyKernels(g deblur.Grid) Blur {
	return Blur{g.Typical(), g, func(dev backend.Device, boundary deblur.Boundary, h, w int) (blurring, error) {
		if boundary != deblur.Unknown {
			return nil, ErrBoundary
		}
		return deblur.NewVarying(dev, g, h, w)
	}}
}
