package inpaint

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/operator"
)

// Mosaic is the operator of a sensor behind colour filters. At each pixel it keeps the one of red, green and
// blue that the filter there lets through, and sets the others to 0. It is diagonal with ones and zeros, as
// Mask is, but differs from channel to channel, so it takes images of three channels only. Demosaicking is
// finding an image from such measurements. It is safe for concurrent use.
type Mosaic struct {
	device backend.Device
	h, w   int
	mask   backend.Buffer // of three channels, 1 where a colour is kept
}

var _ operator.Linear = (*Mosaic)(nil)

// NewMosaic returns the mosaic of images of h rows and w columns. pattern has the colours of the filters at
// the first two pixels of the first two rows, which repeat: pattern[row][column] is the channel, 0 red, 1
// green, 2 blue. Any pattern is allowed. Free the mosaic when it is no longer needed.
func NewMosaic(device backend.Device, pattern [2][2]int, h, w int) (*Mosaic, error) {
	if err := arguments.CheckDevice("inpaint", device); err != nil {
		return nil, err
	}
	if err := arguments.CheckRoom(device, backend.Image(3, h, w)); err != nil {
		return nil, fmt.Errorf("inpaint: mosaic of %d×%d pixels: %w", h, w, err)
	}
	for _, row := range pattern {
		for _, c := range row {
			if c < 0 || c > 2 {
				return nil, fmt.Errorf("inpaint: mosaic of the pattern %v, whose channels are to be 0, 1 and 2", pattern)
			}
		}
	}
	mask := make([]float32, 3*h*w)
	for y := range h {
		for x := range w {
			mask[(pattern[y&1][x&1]*h+y)*w+x] = 1
		}
	}
	m := &Mosaic{device: device, h: h, w: w}
	var err error
	if m.mask, err = device.Alloc(backend.Image(3, h, w)); err != nil {
		return nil, fmt.Errorf("inpaint: %w", err)
	}
	if err := device.Upload(m.mask, mask); err != nil {
		m.mask.Free()
		return nil, fmt.Errorf("inpaint: %w", err)
	}
	return m, nil
}

// Domain returns the rows and columns of the image.
func (m *Mosaic) Domain() (h, w int) { return m.h, m.w }

// Range returns the same as Domain.
func (m *Mosaic) Range() (h, w int) { return m.h, m.w }

// Apply sets dst = M·src. Both have the mosaic's size, N = 1 and three channels, and share no memory. Nothing
// is rounded; the other colours become 0 or −0.
func (m *Mosaic) Apply(dst, src backend.Buffer) error {
	if s, d := arguments.ShapeOf(src), arguments.ShapeOf(dst); s != m.mask.Shape() || d != s {
		return fmt.Errorf("inpaint: mosaic of %d×%d on %v to %v: %w", m.h, m.w, s, d, backend.ErrShape)
	}
	return m.device.Multiply(dst, src, m.mask)
}

// Adjoint is Apply: M is symmetric.
func (m *Mosaic) Adjoint(dst, src backend.Buffer) error { return m.Apply(dst, src) }

// Norm returns ‖M‖, which is 1.
func (m *Mosaic) Norm() (bound float64, reason string) { return 1, "mosaic: an orthogonal projection" }

// Rounding implements operator.Rounded: nothing is rounded.
func (m *Mosaic) Rounding() (r float64, err error) { return 0, nil }

// Free gives the device's memory back. A second Free does nothing.
func (m *Mosaic) Free() { m.mask.Free() }
