package operator

import (
	"errors"
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Composition is the product A·B of two operators: first B, then A. It is safe
// for concurrent use if they are.
type Composition struct {
	outer, inner Linear
	device       backend.Device

	mu      sync.Mutex
	between backend.Buffer // one channel of B's range
}

// Compose returns outer·inner, for operators on the same device whose sizes fit: the range of inner is the
// domain of outer. The caller keeps both, and must not free them before the composition. Free the composition
// when it is no longer needed.
func Compose(device backend.Device, outer, inner Linear) (*Composition, error) {
	if err := arguments.CheckDevice("operator", device); err != nil {
		return nil, err
	}
	if outer == nil || inner == nil {
		return nil, errors.New("operator: a composition needs two operators")
	}
	rh, rw := inner.Range()
	if dh, dw := outer.Domain(); dh != rh || dw != rw {
		return nil, fmt.Errorf("operator: composition of operators: the inner one makes %d×%d samples, the outer one takes %d×%d", rh, rw, dh, dw)
	}
	between, err := device.Alloc(backend.Image(1, rh, rw))
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	return &Composition{outer: outer, inner: inner, device: device, between: between}, nil
}

// Domain returns the rows and columns of the unknown image.
func (c *Composition) Domain() (h, w int) { return c.inner.Domain() }

// Range returns the rows and columns of the measurements.
func (c *Composition) Range() (h, w int) { return c.outer.Range() }

// Apply sets dst = A·B·src. dst has Range, src Domain size; they have N = 1 and the same
// number of channels, and share no memory.
func (c *Composition) Apply(dst, src backend.Buffer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return EachChannel(c.device, dst, src, func(to, from backend.Buffer) error {
		if err := c.inner.Apply(c.between, from); err != nil {
			return err
		}
		return c.outer.Apply(to, c.between)
	})
}

// Adjoint sets dst = Bᵀ·Aᵀ·src. dst has Domain, src Range size; they have N = 1 and the
// same number of channels, and share no memory.
func (c *Composition) Adjoint(dst, src backend.Buffer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return EachChannel(c.device, dst, src, func(to, from backend.Buffer) error {
		if err := c.outer.Adjoint(c.between, from); err != nil {
			return err
		}
		return c.inner.Adjoint(to, c.between)
	})
}

// Norm returns the product of the two bounds: ‖AB‖ ≤ ‖A‖·‖B‖. The bound is tight if A and B stretch the same
// images most. A mask and a blur nearly do.
func (c *Composition) Norm() (bound float64, reason string) {
	a, outer := c.outer.Norm()
	b, inner := c.inner.Norm()
	return a * b * (1 + 0x1p-52), fmt.Sprintf("%.9g (%s) times %.9g (%s)", a, outer, b, inner)
}

// Free gives the composition's own device memory back, not that of the two operators. A second Free does
// nothing.
func (c *Composition) Free() { c.between.Free() }
