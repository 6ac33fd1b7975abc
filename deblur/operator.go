package deblur

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/operator"
)

// Operator is the blur K of a photograph: a linear map from the unknown image, of Domain size, to the
// photograph, of Range size, the same for every channel. It is safe for concurrent use.
type Operator struct {
	device   backend.Device
	kernel   Kernel
	boundary Boundary
	h, w     int // of the photograph
	blur     backend.Blur

	normOnce   sync.Once
	norm       float64
	normReason string
}

var _ operator.ByChannel = (*Operator)(nil)

// New returns the blur of a photograph of h rows and w columns. The kernel is
// copied. Free the operator when it is no longer needed.
func New(device backend.Device, kernel Kernel, boundary Boundary, h, w int) (*Operator, error) {
	return newOperator(device, kernel, boundary, h, w, backend.AutoBlur)
}

func newOperator(device backend.Device, kernel Kernel, boundary Boundary, h, w int, method backend.BlurMethod) (*Operator, error) {
	if err := arguments.CheckDevice("deblur", device); err != nil {
		return nil, err
	}
	if err := kernel.Check(); err != nil {
		return nil, err
	}
	if h < 1 || w < 1 || h > math.MaxInt32 || w > math.MaxInt32 {
		return nil, fmt.Errorf("deblur: blur of a photograph of %d×%d samples, want at least 1×1 and at most 2147483647 on a side", h, w)
	}
	continued, err := boundary.backend()
	if err != nil {
		return nil, err
	}
	kernel.Weights = slices.Clone(kernel.Weights)
	o := &Operator{device: device, kernel: kernel, boundary: boundary, h: h, w: w}
	spec := backend.BlurSpec{
		Kernel: kernel.Weights, KH: kernel.H, KW: kernel.W, CY: kernel.CY, CX: kernel.CX,
		Boundary: continued, Method: method,
	}
	spec.H, spec.W = o.Domain()
	if err := arguments.CheckRoom(device, backend.Image(1, spec.H, spec.W)); err != nil {
		return nil, fmt.Errorf("deblur: %w", err)
	}
	if o.blur, err = device.NewBlur(spec); err != nil {
		return nil, fmt.Errorf("deblur: %w", err)
	}
	return o, nil
}

// Kernel returns a copy of the kernel.
func (o *Operator) Kernel() Kernel {
	k := o.kernel
	k.Weights = slices.Clone(k.Weights)
	return k
}

// Boundary returns the assumption about the scene beyond the photograph.
func (o *Operator) Boundary() Boundary { return o.boundary }

// Domain returns the rows and columns of the unknown image: those of the photograph, plus the kernel's less
// one for Unknown.
func (o *Operator) Domain() (h, w int) {
	if o.boundary == Unknown {
		return o.h + o.kernel.H - 1, o.w + o.kernel.W - 1
	}
	return o.h, o.w
}

// Range returns the rows and columns of the photograph.
func (o *Operator) Range() (h, w int) { return o.h, o.w }

// Offset returns the position of the photograph's first sample in the unknown image.
func (o *Operator) Offset() (y, x int) {
	if o.boundary == Unknown {
		return o.kernel.H - 1 - o.kernel.CY, o.kernel.W - 1 - o.kernel.CX
	}
	return 0, 0
}

// Crop copies the part of an unknown image that the photograph shows. src holds planes of Domain size one
// after the other, and dst as many of Range size.
func (o *Operator) Crop(dst, src []float32) error {
	dh, dw := o.Domain()
	if err := o.checkPlanes(len(dst), len(src)); err != nil {
		return err
	}
	top, left := o.Offset()
	for i := range len(dst) / o.w {
		plane, y := i/o.h, i%o.h
		copy(dst[i*o.w:(i+1)*o.w], src[(plane*dh+top+y)*dw+left:])
	}
	return nil
}

// Extend is the inverse of Crop: it continues a photograph by reflection to the size of the unknown image.
// src holds planes of Range size one after the other, and dst as many of Domain size.
func (o *Operator) Extend(dst, src []float32) error {
	dh, dw := o.Domain()
	if err := o.checkPlanes(len(src), len(dst)); err != nil {
		return err
	}
	top, left := o.Offset()
	for i := range len(dst) / dw {
		plane, y := i/dh, mirror(i%dh-top, o.h)
		row := src[(plane*o.h+y)*o.w:][:o.w]
		for x := range dw {
			dst[i*dw+x] = row[mirror(x-left, o.w)]
		}
	}
	return nil
}

func (o *Operator) checkPlanes(photograph, unknown int) error {
	dh, dw := o.Domain()
	if n := o.h * o.w; photograph%n != 0 || unknown != photograph/n*dh*dw {
		return fmt.Errorf("deblur: %d samples of %d×%d and %d of %d×%d are not the same number of planes",
			photograph, o.h, o.w, unknown, dh, dw)
	}
	return nil
}

// mirror reflects i into [0, n), the edge sample repeated.
func mirror(i, n int) int {
	if i = wrap(i, 2*n); i >= n {
		i = 2*n - 1 - i
	}
	return i
}

// wrap takes i modulo n into [0, n).
func wrap(i, n int) int {
	if i %= n; i < 0 {
		i += n
	}
	return i
}

// Apply sets dst = K·src. dst has Range, src Domain size; they have the same number
// of channels and share no memory.
func (o *Operator) Apply(dst, src backend.Buffer) error {
	return o.device.ApplyBlur(dst, src, o.blur)
}

// Adjoint sets dst = Kᵀ·src. dst has Domain, src Range size; they have the same
// number of channels and share no memory.
func (o *Operator) Adjoint(dst, src backend.Buffer) error {
	return o.device.ApplyBlurAdjoint(dst, src, o.blur)
}

// Channel implements operator.ByChannel: all channels are blurred alike.
func (o *Operator) Channel(int) (operator.Linear, error) { return o, nil }

// Free gives the device's memory back. A second Free does nothing.
func (o *Operator) Free() { o.blur.Free() }
