package operator

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
)

// Host is a linear map K of one channel on plain numbers, rows one after the other. With it a program adds an
// operator of its own without knowing about devices (FromHost).
type Host struct {
	// DomainH×DomainW are the rows and columns of the unknown image, RangeH×RangeW those of
	// the measurements.
	DomainH, DomainW, RangeH, RangeW int
	// Apply sets dst = K·src: every number of dst, of Range size, from src, of Domain size.
	Apply func(dst, src []float32) error
	// Adjoint sets dst = Kᵀ·src, with the sizes exchanged.
	Adjoint func(dst, src []float32) error
	// Norm is an upper bound of ‖K‖, the largest ‖Kx‖/‖x‖, and Reason says why it is one. Every proof about
	// an iteration rests on it. CheckNorm tests it.
	Norm   float64
	Reason string
}

// onHost is a Host as a Linear.
type onHost struct {
	host Host
	dev  backend.Device

	mu              sync.Mutex
	domain, measure []float32 // one channel of either size
}

// FromHost returns the operator on a device. It downloads every channel, maps it by the functions, one call
// at a time, and uploads the result. It is safe for concurrent use and holds no memory of the device. An
// error of the functions is returned.
func FromHost(dev backend.Device, host Host) (Linear, error) {
	for _, side := range []int{host.DomainH, host.DomainW, host.RangeH, host.RangeW} {
		if side < 1 || side > math.MaxInt32 {
			return nil, fmt.Errorf("operator: from %d×%d to %d×%d samples, want at least 1×1", host.DomainH, host.DomainW, host.RangeH, host.RangeW)
		}
	}
	switch {
	case host.Apply == nil || host.Adjoint == nil:
		return nil, errors.New("operator: an operator needs both Apply and Adjoint")
	case !(host.Norm >= 0) || math.IsInf(host.Norm, 1):
		return nil, fmt.Errorf("operator: a norm of at most %v, want a finite number of 0 or more", host.Norm)
	case host.Reason == "":
		return nil, errors.New("operator: the bound of the norm needs a Reason why it holds")
	}
	return &onHost{
		host: host, dev: dev,
		domain: make([]float32, host.DomainH*host.DomainW), measure: make([]float32, host.RangeH*host.RangeW),
	}, nil
}

// On is FromHost.
func (h Host) On(dev backend.Device) (Linear, error) { return FromHost(dev, h) }

func (o *onHost) Domain() (h, w int) { return o.host.DomainH, o.host.DomainW }

func (o *onHost) Range() (h, w int) { return o.host.RangeH, o.host.RangeW }

func (o *onHost) Norm() (bound float64, reason string) { return o.host.Norm, o.host.Reason }

func (o *onHost) Apply(dst, src backend.Buffer) error {
	return o.each(dst, o.measure, src, o.domain, o.host.Apply)
}

func (o *onHost) Adjoint(dst, src backend.Buffer) error {
	return o.each(dst, o.domain, src, o.measure, o.host.Adjoint)
}

// each maps every channel of src, by way of host memory.
func (o *onHost) each(dst backend.Buffer, to []float32, src backend.Buffer, from []float32, f func(dst, src []float32) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return EachChannel(o.dev, dst, src, func(dst, src backend.Buffer) error {
		if err := o.dev.Download(from, src); err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		if err := f(to, from); err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		if err := o.dev.Upload(dst, to); err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		return nil
	})
}
