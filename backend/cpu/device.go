// Package cpu is the backend that computes on the host's processor, in pure Go.
//
// A call is done when it returns. Results have the same bits for any number of threads: the pieces of work
// depend on shapes alone, and partial sums are added in a fixed order.
package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/parallel"
)

// Device is the host's processor; it implements backend.Device. It is safe for concurrent use. Open makes one, and the zero
// value cannot be used.
type Device struct {
	*devicekit.Device[[]float32, *filter]
	host *host
}

var (
	_ backend.Device     = (*Device)(nil)
	_ backend.HostMemory = (*Device)(nil)
)

// host is the kernels of a Device.
type host struct {
	pool    *parallel.Pool
	set     *InstructionSet
	kernels *kernels
	threads int
	limit   int64 // bytes, 0 for none
	used    atomic.Int64
	idle    idleArrays
	// flowShape is for tests.
	flowShape flowShape
}

// buffer is an operand.
type buffer = devicekit.Array[[]float32]

// Option is an option of Open.
type Option func(*host)

// Threads sets the number of threads; 0, the default, means runtime.GOMAXPROCS. The result does not depend on
// it.
func Threads(n int) Option {
	return func(d *host) { d.threads = n }
}

// MemoryLimit sets the number of bytes for buffers, filters and GradientFlow's intermediate results, above
// which a call returns backend.ErrOutOfMemory; 0, the default, means no limit. Wrapped buffers do not count:
// the caller has already allocated them.
func MemoryLimit(bytes int64) Option {
	return func(d *host) { d.limit = bytes }
}

// UseInstructionSet sets the instruction set, which must be one of InstructionSets(); the
// default is the one that Selected returns.
func UseInstructionSet(s InstructionSet) Option {
	return func(d *host) { d.set = &s }
}

// Open returns a device that computes on the host. It fails if this processor or this build does not have the
// instruction set. The error wraps backend.ErrArgument for one of UseInstructionSet, and is that of Selected
// for one of the environment.
func Open(options ...Option) (*Device, error) {
	d := &host{}
	for _, o := range options {
		o(d)
	}
	if d.set == nil {
		s, err := Selected()
		if err != nil {
			return nil, err
		}
		d.set = &s
	}
	var err error
	if d.kernels, err = kernelsOf(*d.set); err != nil {
		return nil, err
	}
	d.pool = parallel.New(d.threads)
	return &Device{devicekit.New(d, true), d}, nil
}

// Description implements devicekit.Kernels.
func (d *host) Description() backend.Description {
	return backend.Description{Name: "cpu", Model: d.set.String(), Threads: d.pool.Threads(), Memory: d.limit}
}

// Sync implements devicekit.Kernels: there is never anything to wait for.
func (d *host) Sync() error { return nil }

// Close implements devicekit.Kernels.
func (d *host) Close() error {
	d.pool.Close()
	return nil
}

// take counts so many bytes as used for something, if there is room.
func (d *host) take(bytes int64, what string) error {
	if used := d.used.Add(bytes); d.limit > 0 && used > d.limit {
		d.used.Add(-bytes)
		return fmt.Errorf("%w: %d bytes for %s, %d of %d in use", backend.ErrOutOfMemory, bytes, what, used-bytes, d.limit)
	}
	return nil
}

// Alloc implements devicekit.Kernels.
func (d *host) Alloc(s backend.Shape) ([]float32, error) {
	bytes := int64(s.Len()) * 4
	if err := d.take(bytes, "a buffer"); err != nil {
		return nil, err
	}
	data := d.idle.take(s.Len())
	if data == nil {
		var err error
		if data, err = allocate(s.Len()); err != nil {
			d.used.Add(-bytes)
			return nil, err
		}
	}
	return data, nil
}

// allocate turns the run-time panic of an absurd length into an error. Memory
// that the operating system cannot give ends the process all the same: set a
// MemoryLimit where that can happen.
func allocate(n int) (data []float32, err error) {
	defer func() {
		if recover() != nil {
			data, err = nil, fmt.Errorf("%w: %d elements", backend.ErrOutOfMemory, n)
		}
	}()
	return make([]float32, n), nil
}

// Free implements devicekit.Kernels. The memory goes to a buffer of the same length, or back to Go's
// collector.
func (d *host) Free(data []float32) {
	d.used.Add(-int64(len(data)) * 4)
	d.idle.put(data)
}

// View implements devicekit.Kernels.
func (d *host) View(data []float32, offset, count int) []float32 {
	return data[offset : offset+count : offset+count]
}

// Wrap implements backend.HostMemory.
func (d *Device) Wrap(s backend.Shape, data []float32) (backend.Buffer, error) {
	return devicekit.Wrap(d.Device, s, data, data)
}

// Upload implements devicekit.Kernels.
func (d *host) Upload(dst buffer, src []float32) error {
	d.copied(dst.Data, src)
	return nil
}

// Download implements devicekit.Kernels.
func (d *host) Download(dst []float32, src buffer) error {
	d.copied(dst, src.Data)
	return nil
}

// copied is copy by all threads, which all touch what is new.
func (d *host) copied(dst, src []float32) {
	n := min(len(dst), len(src))
	d.pool.Range(n, vectorBlock, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
}
