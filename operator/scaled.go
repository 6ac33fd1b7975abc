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
// with their number of channels. It is the derivative of a map g(K·f(x)) whose curves f and g act on single samples. It is
// safe for concurrent use if K is, and while the scales do not change.
type Scaled struct {
	inner       Linear
	device      backend.Device
	left, right backend.Buffer // of K's range and domain
	room        *scaledRoom
	norm        *scaledNorm // of all channels
}

// scaledRoom is one channel of K's range and one of its domain.
type scaledRoom struct {
	mu               sync.Mutex
	ranged, domained backend.Buffer
}

// scaledNorm is the bound of the norm, 0 while it is not known.
type scaledNorm struct {
	of     *Scaled // of all channels
	mu     sync.Mutex
	bound  float64
	reason string
}

var (
	_ Preconditioned = (*Scaled)(nil)
	_ ByChannel      = (*Scaled)(nil)
)

// Scale returns L·K·R. left has K's range and right K's domain, both as many channels and no number below 0, and K has no
// number below 0 either: otherwise Norm is false. The scales may be filled after the call; after each change of them Changed
// must be called. The caller keeps all three, and must not free them before the result. Free the result when it is
// no longer needed.
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
	s := &Scaled{inner: inner, device: device, left: left, right: right, room: &scaledRoom{}, norm: &scaledNorm{}}
	s.norm.of = s
	defer func() {
		if err != nil {
			s.Free()
		}
	}()
	if s.room.domained, err = device.Alloc(backend.Image(1, dh, dw)); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	if s.room.ranged, err = device.Alloc(backend.Image(1, h, w)); err != nil {
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
		if err := s.device.Multiply(s.room.domained, from, right); err != nil {
			return err
		}
		if err := inner.Apply(to, s.room.domained); err != nil {
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
		if err := s.device.Multiply(s.room.ranged, from, left); err != nil {
			return err
		}
		if err := inner.Adjoint(to, s.room.ranged); err != nil {
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

// Changed says that the scales have other numbers than before.
func (s *Scaled) Changed() {
	s.norm.mu.Lock()
	defer s.norm.mu.Unlock()
	s.norm.bound = 0
}

// Norm returns a proven upper bound of ‖LKR‖, for an operator of one channel that of all, and the reason. It is for exact
// arithmetic, and is computed on the first call after a change. ‖LKR‖² is at most the largest row sum of LKR times its
// largest column sum (Schur's test), for none of its numbers is below 0. These are the largest samples of the operator and
// of its adjoint applied to ones, enlarged by what K bounds of their rounding. Where that is no better, or K bounds no
// rounding, it is ‖K‖ times the largest numbers of L and R. It is +Inf if the device fails.
func (s *Scaled) Norm() (bound float64, reason string) {
	s.norm.mu.Lock()
	defer s.norm.mu.Unlock()
	if s.norm.bound == 0 {
		var err error
		if s.norm.bound, s.norm.reason, err = s.norm.of.bound(); err != nil {
			return math.Inf(1), err.Error()
		}
	}
	return s.norm.bound, s.norm.reason
}

func (s *Scaled) bound() (bound float64, reason string, err error) {
	left, leftSize, err := s.largest(s.left)
	if err != nil {
		return 0, "", err
	}
	right, rightSize, err := s.largest(s.right)
	if err != nil {
		return 0, "", err
	}
	norm, reason := s.inner.Norm()
	bound, reason = left*norm*right, reason+"; times the largest scales"
	rounding, err := RoundingOf(s.inner)
	if err != nil || math.IsInf(rounding, 1) {
		return bound, reason, err
	}
	rows, err := s.largestSum(s.right, s.left, s.Apply)
	if err != nil {
		return 0, "", err
	}
	columns, err := s.largestSum(s.left, s.right, s.Adjoint)
	if err != nil {
		return 0, "", err
	}
	// No sample of an image is larger than its Euclidean norm, and so with the error of K·R·1. Each product rounds once.
	const products = 1 + 0x1p-22
	underflow := backend.BlurUnderflow * (1 + rounding) * math.Sqrt(float64(max(s.left.Shape().Len(), s.right.Shape().Len())))
	rows = (rows + left*(rounding*rightSize+underflow)) * products
	columns = (columns + right*(rounding*leftSize+underflow)) * products
	if schur := math.Sqrt(rows * columns); schur < bound {
		bound, reason = schur, "scaled: Schur's test, the root of the largest row sum times the largest column sum"
	}
	return bound, reason, nil
}

// largest returns the largest number of scales, and their Euclidean norm.
func (s *Scaled) largest(of backend.Buffer) (largest, size float64, err error) {
	host := make([]float32, of.Shape().Len())
	if err := s.device.Download(host, of); err != nil {
		return 0, 0, fmt.Errorf("operator: %w", err)
	}
	for _, v := range host {
		largest, size = max(largest, float64(v)), size+float64(v)*float64(v)
	}
	return largest, math.Sqrt(size), nil
}

// largestSum returns the largest sample of apply(1).
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
	largest, _, err := s.largest(sums)
	return largest, err
}

// Preconditioner returns K's preconditioner. It is near (I + τ·RKᵀL²KR)⁻¹ where L·R is near 1 and K does not mix
// samples of very different scales.
func (s *Scaled) Preconditioner(tau float64) (Preconditioner, error) {
	return PreconditionerOf(s.inner, tau)
}

// Free gives the operator's own device memory back, not that of K or the scales. A second Free does nothing.
func (s *Scaled) Free() {
	for _, b := range []backend.Buffer{s.room.domained, s.room.ranged} {
		if b != nil {
			b.Free()
		}
	}
}
