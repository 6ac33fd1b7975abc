package vulkan

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/dispatch"
	"github.com/averaged/imaging/internal/mempool"
	"github.com/averaged/imaging/internal/selftest"
	"github.com/averaged/imaging/internal/vulkan/driver"
)

var (
	// ErrNoDriver: this machine has no Vulkan, or the program cannot search for it.
	ErrNoDriver = driver.ErrNoDriver
	// ErrNoDevice: Vulkan has no device that can compute, or none with this number.
	ErrNoDevice = driver.ErrNoDevice
	// ErrWrong: a result differs from the processor's by more than rounding explains.
	ErrWrong = selftest.ErrWrong
)

// GPU describes a device without opening it.
type GPU = driver.GPU

// Kinds of devices.
const (
	Integrated = driver.Integrated
	Discrete   = driver.Discrete
	// Processor is a device that computes on the CPU.
	Processor = driver.Processor
)

// Devices returns the devices of this machine, in the order of their numbers. If there is none, the error
// says why.
func Devices() ([]GPU, error) {
	list, err := driver.List()
	if err != nil {
		return nil, fmt.Errorf("vulkan: %w", err)
	}
	return list, nil
}

// Fault is an error of a device or its driver, not of the caller.
type Fault struct {
	Name   string // "vulkan:0"
	Model  string // of the device
	Driver string // with its version
	Err    error
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s, %s with driver %s: %v", f.Name, f.Model, f.Driver, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// supported returns an error unless the kernels run on a device.
func supported(g GPU) error {
	lacks := func(what string, has, needs int) error {
		return fmt.Errorf("%w: %s has %d %s, %d are needed", backend.ErrUnsupported, g.Name, has, what, needs)
	}
	switch {
	case g.Invocations < dispatch.GroupThreads:
		return lacks("invocations in a workgroup", g.Invocations, dispatch.GroupThreads)
	case g.SharedMemory < sharedBytes:
		return lacks("bytes of shared memory", g.SharedMemory, sharedBytes)
	case g.Bindings < driver.MaxBindings:
		return lacks("storage buffers in a shader", g.Bindings, driver.MaxBindings)
	case g.PushBytes < 4*driver.MaxPush:
		return lacks("bytes of push constants", g.PushBytes, 4*driver.MaxPush)
	case g.OffsetAlignment > mempool.Granule:
		return lacks("bytes between offsets", int(g.OffsetAlignment), mempool.Granule)
	}
	return nil
}
