package operator

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Host is a linear map K of one channel on plain numbers, rows one after the other. With it a program adds an
// operator of its own without knowing about devices (FromHost).
type Host struct {
	// DomainH×DomainW are the rows and columns of the unknown image, RangeH×RangeW those of
	// the measurements.
	DomainH, DomainW, RangeH, RangeW int
	// Apply sets dst = K·src. dst has Range size and holds zeros before, src has Domain size.
	Apply func(dst, src []float32) error
	// Adjoint sets dst = Kᵀ·src, with the sizes exchanged.
	Adjoint func(dst, src []float32) error
	// Norm is an upper bound of ‖K‖, the largest ‖Kx‖/‖x‖, and Reason says why it is one. Every proof about
	// an iteration rests on it and on Adjoint. Check tests both.
	Norm   float64
	Reason string
}

// onHost is a Host as a Linear.
type onHost struct {
	host Host
	dev  backend.Device

	mu       sync.Mutex
	from, to []float32 // one channel of either size, made when a buffer has that size
}

// FromHost returns the operator on a device. It downloads every channel, maps it by the functions, one call
// at a time, and uploads the result. It is safe for concurrent use and holds no memory of the device. An
// error of the functions is returned.
func FromHost(dev backend.Device, host Host) (Linear, error) {
	for _, side := range []int{host.DomainH, host.DomainW, host.RangeH, host.RangeW} {
		if side < 1 || side > math.MaxInt32 {
			return nil, fmt.Errorf("operator: from %d×%d to %d×%d samples, want at least 1×1 and at most 2147483647 on a side", host.DomainH, host.DomainW, host.RangeH, host.RangeW)
		}
	}
	if err := arguments.CheckDevice("operator", dev); err != nil {
		return nil, err
	}
	switch {
	case host.Apply == nil || host.Adjoint == nil:
		return nil, errors.New("operator: an operator needs both Apply and Adjoint")
	case !(host.Norm >= 0) || math.IsInf(host.Norm, 1):
		return nil, fmt.Errorf("operator: a norm of at most %v, want a finite number of 0 or more", host.Norm)
	case host.Reason == "":
		return nil, errors.New("operator: the bound of the norm needs a Reason why it holds")
	}
	return &onHost{host: host, dev: dev}, nil
}

// On is FromHost.
func (h Host) On(dev backend.Device) (Linear, error) { return FromHost(dev, h) }

func (o *onHost) Domain() (h, w int) { return o.host.DomainH, o.host.DomainW }

func (o *onHost) Range() (h, w int) { return o.host.RangeH, o.host.RangeW }

func (o *onHost) Norm() (bound float64, reason string) { return o.host.Norm, o.host.Reason }

func (o *onHost) Apply(dst, src backend.Buffer) error {
	return o.each(dst, src, backend.Image(1, o.host.RangeH, o.host.RangeW), backend.Image(1, o.host.DomainH, o.host.DomainW), o.host.Apply)
}

func (o *onHost) Adjoint(dst, src backend.Buffer) error {
	return o.each(dst, src, backend.Image(1, o.host.DomainH, o.host.DomainW), backend.Image(1, o.host.RangeH, o.host.RangeW), o.host.Adjoint)
}

// each maps every channel of src, by way of host memory.
func (o *onHost) each(dst, src backend.Buffer, makes, takes backend.Shape, f func(dst, src []float32) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return EachChannel(o.dev, dst, src, func(dst, src backend.Buffer) error {
		if d, s := dst.Shape(), src.Shape(); d != makes || s != takes {
			return fmt.Errorf("operator: from %v to %v, want from %v to %v: %w", s, d, takes, makes, backend.ErrShape)
		}
		o.to, o.from = sized(o.to, makes.Len()), sized(o.from, takes.Len())
		if err := o.dev.Download(o.from, src); err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		clear(o.to) // a sparse matrix adds to it
		if err := f(o.to, o.from); err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		if err := o.dev.Upload(dst, o.to); err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		return nil
	})
}

// sized returns n numbers, those of s if it has as many.
func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
