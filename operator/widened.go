package operator

import (
	"errors"
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Widened is the operator K·C. C cuts the upper left part, of K's domain, out of a larger image. So nothing is measured of
// the last rows and columns, and a denoiser alone says what is there. It is safe for concurrent use if K is.
type Widened struct {
	inner  Linear
	device backend.Device
	h, w   int
	part   backend.Region // of an image, what K sees
	rooms  *rooms
}

// rooms are two channels of K's domain.
type rooms struct {
	mu       sync.Mutex
	from, to backend.Buffer
}

var (
	_ Preconditioned = (*Widened)(nil)
	_ ByChannel      = (*Widened)(nil)
	_ Rounded        = (*Widened)(nil)
)

// Widen returns K·C for images of h rows and w columns, at least those of K's domain. The caller keeps K, and must not free
// it before the result. Free the result when it is no longer needed.
func Widen(device backend.Device, inner Linear, h, w int) (_ *Widened, err error) {
	if err := arguments.CheckDevice("operator", device); err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, errors.New("operator: to widen the images of an operator needs one")
	}
	dh, dw := inner.Domain()
	if h < dh || w < dw {
		return nil, fmt.Errorf("operator: images of %d×%d for an operator on %d×%d: %w", h, w, dh, dw, backend.ErrShape)
	}
	k := &Widened{inner: inner, device: device, h: h, w: w, part: backend.Image(1, dh, dw).Whole(), rooms: &rooms{}}
	defer func() {
		if err != nil {
			k.Free()
		}
	}()
	for _, b := range []*backend.Buffer{&k.rooms.from, &k.rooms.to} {
		if *b, err = device.Alloc(backend.Image(1, dh, dw)); err != nil {
			return nil, fmt.Errorf("operator: %w", err)
		}
	}
	return k, nil
}

// Domain returns the rows and columns of the larger image.
func (k *Widened) Domain() (h, w int) { return k.h, k.w }

// Range returns K's.
func (k *Widened) Range() (h, w int) { return k.inner.Range() }

// Apply sets dst = K·C·src. dst has Range, src Domain size; both have N = 1 and the same number of channels,
// and share no memory.
func (k *Widened) Apply(dst, src backend.Buffer) error {
	return k.each(dst, src, func(to, from backend.Buffer) error {
		if err := k.device.CopyRegion(k.rooms.from, 0, 0, from, k.part); err != nil {
			return err
		}
		return k.inner.Apply(to, k.rooms.from)
	})
}

// Adjoint sets dst = Cᵀ·Kᵀ·src, which is 0 where nothing is measured. dst has Domain, src Range size; both have N = 1
// and the same number of channels, and share no memory.
func (k *Widened) Adjoint(dst, src backend.Buffer) error {
	return k.each(src, dst, func(from, to backend.Buffer) error {
		if err := k.inner.Adjoint(k.rooms.to, from); err != nil {
			return err
		}
		if err := k.device.Fill(to, 0); err != nil {
			return err
		}
		return k.device.CopyRegion(to, 0, 0, k.rooms.to, k.part)
	})
}

// each calls f with every channel of measurements and of an image.
func (k *Widened) each(measured, image backend.Buffer, f func(measured, image backend.Buffer) error) error {
	if s := arguments.ShapeOf(image); s != backend.Image(s.C, k.h, k.w) {
		return fmt.Errorf("operator: %v for an operator on %d×%d: %w", s, k.h, k.w, backend.ErrShape)
	}
	k.rooms.mu.Lock()
	defer k.rooms.mu.Unlock()
	return EachChannel(k.device, measured, image, f)
}

// Norm returns the bound of ‖K‖: C leaves samples out, so ‖K·C‖ ≤ ‖K‖.
func (k *Widened) Norm() (bound float64, reason string) {
	bound, reason = k.inner.Norm()
	return bound, reason + "; of a larger image, a part"
}

// Rounding implements Rounded: C rounds nothing, so the bound is K's.
func (k *Widened) Rounding() (r float64, err error) { return RoundingOf(k.inner) }

// Channel implements ByChannel: K of channel c.
func (k *Widened) Channel(c int) (Linear, error) {
	of, can := k.inner.(ByChannel)
	if !can {
		return k, nil
	}
	inner, err := of.Channel(c)
	if err != nil {
		return nil, err
	}
	return &Widened{inner: inner, device: k.device, h: k.h, w: k.w, part: k.part, rooms: k.rooms}, nil
}

// Preconditioner returns K's, beside the identity where nothing is measured, or nil if K has none.
func (k *Widened) Preconditioner(tau float64) (Preconditioner, error) {
	inner, err := PreconditionerOf(k.inner, tau)
	if err != nil || inner == nil {
		return nil, err
	}
	return &widenedPreconditioner{inner, k}, nil
}

type widenedPreconditioner struct {
	Preconditioner
	k *Widened
}

func (p *widenedPreconditioner) Apply(dst, src backend.Buffer) error {
	k := p.k
	return k.each(dst, src, func(to, from backend.Buffer) error {
		if err := k.device.CopyRegion(k.rooms.from, 0, 0, from, k.part); err != nil {
			return err
		}
		if err := p.Preconditioner.Apply(k.rooms.to, k.rooms.from); err != nil {
			return err
		}
		if err := k.device.LinearCombination(to, backend.Term{A: 1, X: from}); err != nil {
			return err
		}
		return k.device.CopyRegion(to, 0, 0, k.rooms.to, k.part)
	})
}

// Free gives the operator's own device memory back, not that of K. A second Free does nothing.
func (k *Widened) Free() {
	for _, b := range []backend.Buffer{k.rooms.from, k.rooms.to} {
		if b != nil {
			b.Free()
		}
	}
}
