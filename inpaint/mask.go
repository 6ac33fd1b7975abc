package inpaint

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/operator"
)

// Mask is the operator of inpainting, M: it keeps the known pixels of an image and sets the missing ones to 0
// in every channel. M is diagonal with ones and zeros. So it is an orthogonal projection and its own adjoint.
// Domain and Range have the same size. It is safe for concurrent use.
type Mask struct {
	device  backend.Device
	h, w    int
	known   []bool
	missing int
	plane   backend.Buffer // 1 where a pixel is known and 0 where it is missing
}

var _ operator.Linear = (*Mask)(nil)

// NewMask returns the mask of images of h rows and w columns. known is true for the known pixels, row by row,
// and is copied. Free the mask when it is no longer needed.
func NewMask(device backend.Device, known []bool, h, w int) (*Mask, error) {
	if err := arguments.CheckDevice("inpaint", device); err != nil {
		return nil, err
	}
	if err := checkMask(known, h, w); err != nil {
		return nil, err
	}
	m := &Mask{device: device, h: h, w: w, known: slices.Clone(known)}
	plane := make([]float32, h*w)
	for i, k := range known {
		if k {
			plane[i] = 1
		} else {
			m.missing++
		}
	}
	var err error
	if m.plane, err = device.Alloc(backend.Image(1, h, w)); err != nil {
		return nil, fmt.Errorf("inpaint: %w", err)
	}
	if err := device.Upload(m.plane, plane); err != nil {
		m.plane.Free()
		return nil, fmt.Errorf("inpaint: %w", err)
	}
	return m, nil
}

func checkMask(known []bool, h, w int) error {
	if err := backend.Image(1, h, w).Check(); err != nil {
		return fmt.Errorf("inpaint: mask of %d×%d pixels: %w", h, w, err)
	}
	if len(known) != h*w {
		return fmt.Errorf("inpaint: mask of %d pixels for an image of %d×%d, want %d", len(known), h, w, h*w)
	}
	return nil
}

// Missing returns how many pixels are missing.
func (m *Mask) Missing() int { return m.missing }

// Domain returns the rows and columns of the image.
func (m *Mask) Domain() (h, w int) { return m.h, m.w }

// Range returns the same as Domain.
func (m *Mask) Range() (h, w int) { return m.h, m.w }

// Apply sets dst = M·src. Both have the mask's size, N = 1 and the same number of
// channels, and share no memory. Nothing is rounded; missing samples become 0 or −0.
func (m *Mask) Apply(dst, src backend.Buffer) error {
	s, d := arguments.ShapeOf(src), arguments.ShapeOf(dst)
	if s != backend.Image(s.C, m.h, m.w) || d != s {
		return fmt.Errorf("inpaint: mask of %d×%d on %v to %v: %w", m.h, m.w, s, d, backend.ErrShape)
	}
	return operator.EachChannel(m.device, dst, src, func(to, from backend.Buffer) error {
		return m.device.Multiply(to, from, m.plane)
	})
}

// Adjoint is Apply: M is symmetric.
func (m *Mask) Adjoint(dst, src backend.Buffer) error { return m.Apply(dst, src) }

// Norm returns ‖M‖, which is 1, or 0 if every pixel is missing.
func (m *Mask) Norm() (bound float64, reason string) {
	if m.missing == len(m.known) {
		return 0, "mask: no pixel is known"
	}
	return 1, "mask: an orthogonal projection"
}

// Free gives the device's memory back. A second Free does nothing.
func (m *Mask) Free() { m.plane.Free() }

// Rounding implements operator.Rounded: nothing is rounded.
func (m *Mask) Rounding() (r float64, err error) { return 0, nil }
