package operator

import (
	"errors"
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Masked is the operator M·K. It measures as K does and sets some samples to 0. M is diagonal with ones and
// zeros that differ from channel to channel, so M·K takes only images with the mask's number of channels. It
// is safe for concurrent use if K is.
type Masked struct {
	inner  Linear
	device backend.Device
	mask   backend.Buffer // of as many channels, 1 where a sample is kept
	room   *room
}

// room is one channel of K's range.
type room struct {
	mu sync.Mutex
	backend.Buffer
}

var (
	_ Preconditioned = (*Masked)(nil)
	_ ByChannel      = (*Masked)(nil)
)

// Mask returns M·K. mask has K's range, with 1 for each sample that is kept and 0 for the others: with other
// numbers Norm and Rounding are false. The mask may be filled after the call. The caller keeps both, and must
// not free them before the result. Free the result when it is no longer needed.
func Mask(device backend.Device, inner Linear, mask backend.Buffer) (*Masked, error) {
	if err := arguments.CheckDevice("operator", device); err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, errors.New("operator: a mask needs an operator")
	}
	h, w := inner.Range()
	if s := arguments.ShapeOf(mask); s != backend.Image(s.C, h, w) {
		return nil, fmt.Errorf("operator: mask of %v for measurements of %d×%d: %w", s, h, w, backend.ErrShape)
	}
	b, err := device.Alloc(backend.Image(1, h, w))
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	return &Masked{inner: inner, device: device, mask: mask, room: &room{Buffer: b}}, nil
}

// Domain returns the rows and columns of the unknown image.
func (m *Masked) Domain() (h, w int) { return m.inner.Domain() }

// Range returns the rows and columns of the measurements.
func (m *Masked) Range() (h, w int) { return m.inner.Range() }

// Apply sets dst = M·K·src. dst has Range, src Domain size; both have N = 1 and the mask's number of
// channels, and share no memory.
func (m *Masked) Apply(dst, src backend.Buffer) error {
	if arguments.ShapeOf(dst) != m.mask.Shape() {
		return m.misfit(dst)
	}
	if err := m.inner.Apply(dst, src); err != nil {
		return err
	}
	return m.device.Multiply(dst, dst, m.mask)
}

// Adjoint sets dst = Kᵀ·M·src. dst has Domain, src Range size; both have N = 1 and the mask's number of
// channels, and share no memory.
func (m *Masked) Adjoint(dst, src backend.Buffer) error {
	if arguments.ShapeOf(src) != m.mask.Shape() {
		return m.misfit(src)
	}
	m.room.mu.Lock()
	defer m.room.mu.Unlock()
	channel := 0
	return EachChannel(m.device, dst, src, func(to, from backend.Buffer) error {
		mask, err := m.device.Channels(m.mask, channel, 1)
		if err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		defer mask.Free()
		inner := m.inner
		if of, can := inner.(ByChannel); can {
			if inner, err = of.Channel(channel); err != nil {
				return err
			}
		}
		channel++
		if err := m.device.Multiply(m.room.Buffer, from, mask); err != nil {
			return err
		}
		return inner.Adjoint(to, m.room.Buffer)
	})
}

// Channel implements ByChannel: K with channel c of the mask.
func (m *Masked) Channel(c int) (Linear, error) {
	mask, err := m.device.Channels(m.mask, c, 1)
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	inner := m.inner
	if of, can := inner.(ByChannel); can {
		if inner, err = of.Channel(c); err != nil {
			return nil, err
		}
	}
	return &Masked{inner: inner, device: m.device, mask: mask, room: m.room}, nil
}

func (m *Masked) misfit(b backend.Buffer) error {
	return fmt.Errorf("operator: mask of %v on %v: %w", m.mask.Shape(), arguments.ShapeOf(b), backend.ErrShape)
}

// Norm returns the bound of ‖K‖: M is an orthogonal projection, so ‖M·K‖ ≤ ‖K‖.
func (m *Masked) Norm() (bound float64, reason string) {
	bound, reason = m.inner.Norm()
	return bound, reason + "; with samples left out, a projection"
}

// Rounding implements Rounded: M rounds nothing, so the bound is K's.
func (m *Masked) Rounding() (r float64, err error) { return RoundingOf(m.inner) }

// Preconditioner returns K's preconditioner. It is near (I + τKᵀMK)⁻¹ if M leaves out few samples.
func (m *Masked) Preconditioner(tau float64) (Preconditioner, error) {
	return PreconditionerOf(m.inner, tau)
}

// Free gives the operator's own device memory back, not that of K or the mask. A second Free does nothing.
func (m *Masked) Free() { m.room.Free() }
