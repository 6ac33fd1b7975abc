package operator

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Scaled is the operator L·K·R with diagonal L and R that differ from channel to channel, so it takes only images
// with their number of channels. It is the derivative of a map g(K·f(x)) whose curves f and g act on samples. It is
// safe for concurrent use if K is, but not while Bound runs.
type Scaled struct {
	inner       Linear
	device      backend.Device
	left, right backend.Buffer // of K's range and domain
	room        *scaledRoom
	norm        *scaledNorm
}

// scaledRoom is one channel of K's range and one of its domain.
type scaledRoom struct {
	mu       sync.Mutex
	of, unto backend.Buffer
}

// scaledNorm is what Bound has found, for all channels.
type scaledNorm struct{ bound float64 }

var (
	_ Preconditioned = (*Scaled)(nil)
	_ ByChannel      = (*Scaled)(nil)
)

// Scale returns L·K·R. left has K's range, right K's domain, both as many channels and no number below 0. They may be
// filled after the call, but Bound must be called after each change: without it Norm is +Inf. No number of K may be
// below 0. The caller keeps all three, and must not free them before the result. Free the result when it is no
// longer needed.
func Scale(device backend.Device, inner Linear, left, right backend.Buffer) (_ *Scaled, err error) {
	if err := arguments.CheckDevice("operator", device); err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, errors.New("operator: scaling needs an operator")
	}
	h, w := inner.Range()
	dh, dw := inner.Domain()
	l, r := arguments.ShapeOf(left), arguments.ShapeOf(right)
	if l != backend.Image(l.C, h, w) || r != backend.Image(l.C, dh, dw) {
		return nil, fmt.Errorf("operator: scales of %v and %v for an operator from %d×%d to %d×%d: %w", l, r, dh, dw, h, w, backend.ErrShape)
	}
	s := &Scaled{inner: inner, device: device, left: left, right: right, room: &scaledRoom{}, norm: &scaledNorm{math.Inf(1)}}
	defer func() {
		if err != nil {
			s.Free()
		}
	}()
	if s.room.of, err = device.Alloc(backend.Image(1, dh, dw)); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	if s.room.unto, err = device.Alloc(backend.Image(1, h, w)); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	return s, nil
}

// Domain returns the rows and columns of the unknown image.
func (s *Scaled) Domain() (h, w int) { return s.inner.Domain() }

// Range returns the rows and columns of the measurements.
func (s *Scaled) Range() (h, w int) { return s.inner.Range() }

// Apply sets dst = L·K·R·src. dst has Range, src Domain size; both have N = 1 and the scales' number of channels, and
// share no memory.
func (s *Scaled) Apply(dst, src backend.Buffer) error {
	if arguments.ShapeOf(src) != s.right.Shape() {
		return s.misfit(src)
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	return s.each(dst, src, func(inner Linear, to, from, left, right backend.Buffer) error {
		if err := s.device.Multiply(s.room.of, from, right); err != nil {
			return err
		}
		if err := inner.Apply(to, s.room.of); err != nil {
			return err
		}
		return s.device.Multiply(to, to, left)
	})
}

// Adjoint sets dst = R·Kᵀ·L·src. dst has Domain, src Range size; both have N = 1 and the scales' number of channels,
// and share no memory.
func (s *Scaled) Adjoint(dst, src backend.Buffer) error {
	if arguments.ShapeOf(src) != s.left.Shape() {
		return s.misfit(src)
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	return s.each(dst, src, func(inner Linear, to, from, left, right backend.Buffer) error {
		if err := s.device.Multiply(s.room.unto, from, left); err != nil {
			return err
		}
		if err := inner.Adjoint(to, s.room.unto); err != nil {
			return err
		}
		return s.device.Multiply(to, to, right)
	})
}

// each calls f with each channel of all, and K of that channel.
func (s *Scaled) each(dst, src backend.Buffer, f func(inner Linear, to, from, left, right backend.Buffer) error) error {
	channel := 0
	return EachChannel(s.device, dst, src, func(to, from backend.Buffer) error {
		one, err := s.channel(channel)
		if err != nil {
			return err
		}
		defer one.left.Free()
		defer one.right.Free()
		channel++
		return f(one.inner, to, from, one.left, one.right)
	})
}

// Channel implements ByChannel: K of channel c with that channel of the scales.
func (s *Scaled) Channel(c int) (Linear, error) { return s.channel(c) }

func (s *Scaled) channel(c int) (_ *Scaled, err error) {
	one := *s
	if of, can := s.inner.(ByChannel); can {
		if one.inner, err = of.Channel(c); err != nil {
			return nil, err
		}
	}
	if one.left, err = s.device.Channels(s.left, c, 1); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	if one.right, err = s.device.Channels(s.right, c, 1); err != nil {
		one.left.Free()
		return nil, fmt.Errorf("operator: %w", err)
	}
	return &one, nil
}

func (s *Scaled) misfit(b backend.Buffer) error {
	return fmt.Errorf("operator: scales of %v and %v on %v: %w", s.left.Shape(), s.right.Shape(), arguments.ShapeOf(b), backend.ErrShape)
}

// Bound computes what Norm returns from the scales as they are now: ‖LKR‖² is at most the largest row sum of LKR times its
// largest column sum (Schur's test), for no number in it is below 0. These are the largest samples of the operator and of its
// adjoint applied to ones.
func (s *Scaled) Bound() error {
	s.norm.bound = math.Inf(1)
	rows, err := s.largestSum(s.right, s.left, s.Apply)
	if err != nil {
		return err
	}
	columns, err := s.largestSum(s.left, s.right, s.Adjoint)
	if err != nil {
		return err
	}
	s.norm.bound = math.Sqrt(rows * columns)
	return nil
}

// largestSum bounds the largest sample of apply(1), for exact arithmetic.
func (s *Scaled) largestSum(from, to backend.Buffer, apply func(dst, src backend.Buffer) error) (float64, error) {
	ones, err := s.device.Alloc(from.Shape())
	if err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	defer ones.Free()
	sums, err := s.device.Alloc(to.Shape())
	if err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	defer sums.Free()
	if err := s.device.Fill(ones, 1); err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	if err := apply(sums, ones); err != nil {
		return 0, err
	}
	host := make([]float32, to.Shape().Len())
	if err := s.device.Download(host, sums); err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	largest := 0.0
	for _, v := range host {
		largest = max(largest, float64(v))
	}
	return largest * 1.001, nil
}

// Norm returns the bound that Bound found.
func (s *Scaled) Norm() (bound float64, reason string) {
	return s.norm.bound, "scaled: Schur's test, the root of the largest row sum times the largest column sum"
}

// Preconditioner returns K's preconditioner. It is near (I + τ·RKᵀL²KR)⁻¹ where L·R is near 1 and K does not mix
// samples of very different scales.
func (s *Scaled) Preconditioner(tau float64) (Preconditioner, error) {
	return PreconditionerOf(s.inner, tau)
}

// Free gives the operator's own device memory back, not that of K or the scales. A second Free does nothing.
func (s *Scaled) Free() {
	for _, b := range []backend.Buffer{s.room.of, s.room.unto} {
		if b != nil {
			b.Free()
		}
	}
}
