// Package cpu is the backend that computes on the host's processor, in pure Go.
//
// A call is done when it returns. Results have the same bits for any number of
// threads: work is cut into pieces that depend on shapes alone, and partial sums
// are added in a fixed order.
package cpu

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/parallel"
)

// Device is the host's processor; it implements backend.Device. Safe for
// concurrent use.
type Device struct {
	pool *parallel.Pool
	// set is nil for the one that Selected returns.
	set     *InstructionSet
	kernels *kernels
	threads int
	fault   error // what every operation returns, where not nil
	limit   int64 // bytes, 0 for none
	used    atomic.Int64
	idle    idleArrays
	closed  atomic.Bool
	// flowShape is for tests.
	flowShape flowShape
	// running lets Close wait: operations hold it for reading.
	running sync.RWMutex
}

var (
	_ backend.Device     = (*Device)(nil)
	_ backend.HostMemory = (*Device)(nil)
)

// Option changes how Open and New make a device.
type Option func(*Device)

// Threads sets how many threads compute; 0, the default, means as many as
// runtime.GOMAXPROCS says. The result does not depend on it.
func Threads(n int) Option {
	return func(d *Device) { d.threads = n }
}

// MemoryLimit sets how many bytes buffers, filters and what GradientFlow keeps of an
// image may take in all before a call returns backend.ErrOutOfMemory; 0, the default,
// means no limit. What Wrap is given is the caller's and does not count: it is there
// already, and to refuse it would save nothing.
func MemoryLimit(bytes int64) Option {
	return func(d *Device) { d.limit = bytes }
}

// UseInstructionSet sets the instruction set, which must be one of InstructionSets(); the
// default is the one that Selected returns.
func UseInstructionSet(s InstructionSet) Option {
	return func(d *Device) { d.set = &s }
}

// Open returns a device that computes on the host. It fails where this processor or this
// build does not have the instruction set: one of UseInstructionSet with an error that
// wraps backend.ErrArgument, one of the environment with that of Selected.
func Open(options ...Option) (*Device, error) {
	d := New(options...)
	if d.fault != nil {
		d.pool.Close()
		return nil, d.fault
	}
	return d, nil
}

// New is Open for those to whom an error is soon enough when they compute: where Open
// fails, every operation of New's device returns its error. With options other than
// UseInstructionSet, that is where the environment names an instruction set that is not
// there.
func New(options ...Option) *Device {
	d := &Device{}
	for _, o := range options {
		o(d)
	}
	d.pool = parallel.New(d.threads)
	if d.set == nil {
		s, err := Selected()
		d.set, d.fault = &s, err
	}
	if d.fault == nil {
		d.kernels, d.fault = kernelsOf(*d.set)
	}
	return d
}

// Description implements backend.Device.
func (d *Device) Description() backend.Description {
	model := "none"
	if d.fault == nil {
		model = d.set.String()
	}
	return backend.Description{Name: "cpu", Model: model, Threads: d.pool.Threads(), Memory: d.limit}
}

// Sync implements backend.Device: there is never anything to wait for.
func (d *Device) Sync() error {
	if d.closed.Load() {
		return backend.ErrClosed
	}
	return d.fault
}

// Close implements backend.Device.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.running.Lock() // waits for the operations under way
	defer d.running.Unlock()
	d.pool.Close()
	return nil
}

// enter begins an operation; leave ends it. Between the two Close waits.
func (d *Device) enter() error {
	d.running.RLock()
	if d.closed.Load() {
		d.running.RUnlock()
		return backend.ErrClosed
	}
	if d.fault != nil {
		d.running.RUnlock()
		return d.fault
	}
	return nil
}

func (d *Device) leave() { d.running.RUnlock() }

// buffer is an array in host memory, or a view of another's channels.
type buffer struct {
	device *Device
	shape  backend.Shape
	data   []float32
	parent *buffer // of a view
	lent   bool    // the memory is the caller's
	freed  atomic.Bool
}

// Shape implements backend.Buffer.
func (b *buffer) Shape() backend.Shape { return b.shape }

// Free implements backend.Buffer. The memory goes to a buffer of the same length, or back to Go's
// collector: at once to that where an operation, which may be on this buffer, is under way.
func (b *buffer) Free() {
	if b.freed.Swap(true) || b.parent != nil {
		return
	}
	if !b.lent {
		b.device.used.Add(-int64(len(b.data)) * 4)
		if d := b.device; d.running.TryLock() {
			d.idle.put(b.data)
			d.running.Unlock()
		}
	}
	b.data = nil
}

// gone tells whether the buffer, or the one that it is a view of, was freed.
func (b *buffer) gone() bool {
	return b.freed.Load() || b.parent != nil && b.parent.gone()
}

// Alloc implements backend.Memory.
func (d *Device) Alloc(s backend.Shape) (backend.Buffer, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if err := s.Check(); err != nil {
		return nil, err
	}
	bytes := int64(s.Len()) * 4
	if used := d.used.Add(bytes); d.limit > 0 && used > d.limit {
		d.used.Add(-bytes)
		return nil, fmt.Errorf("%w: %d bytes asked for, %d of %d in use", backend.ErrOutOfMemory, bytes, used-bytes, d.limit)
	}
	data := d.idle.take(s.Len())
	if data == nil {
		var err error
		if data, err = allocate(s.Len()); err != nil {
			d.used.Add(-bytes)
			return nil, err
		}
	}
	return &buffer{device: d, shape: s, data: data}, nil
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

// Wrap implements backend.HostMemory.
func (d *Device) Wrap(s backend.Shape, data []float32) (backend.Buffer, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := devicekit.CheckUpload(s, len(data)); err != nil {
		return nil, err
	}
	return &buffer{device: d, shape: s, data: data, lent: true}, nil
}

// Channels implements backend.Memory.
func (d *Device) Channels(b backend.Buffer, from, count int) (backend.Buffer, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	h, err := d.own(b)
	if err != nil {
		return nil, err
	}
	s := h.shape
	if err := devicekit.CheckChannels(s, from, count); err != nil {
		return nil, err
	}
	p := s.Plane()
	s.C = count
	return &buffer{device: d, shape: s, data: h.data[from*p : (from+count)*p : (from+count)*p], parent: h}, nil
}

// Overlaps implements backend.Memory.
func (d *Device) Overlaps(a, b backend.Buffer) (shared bool, err error) {
	err = d.operate(func(b []*buffer) error {
		shared = overlap(b[0].data, b[1].data)
		return nil
	}, a, b)
	return shared, err
}

// Upload implements backend.Memory.
func (d *Device) Upload(dst backend.Buffer, src []float32) error {
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckUpload(b[0].shape, len(src)); err != nil {
			return err
		}
		d.copied(b[0].data, src)
		return nil
	}, dst)
}

// Download implements backend.Memory.
func (d *Device) Download(dst []float32, src backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckDownload(len(dst), b[0].shape); err != nil {
			return err
		}
		d.copied(dst, b[0].data)
		return nil
	}, src)
}

// copied is copy by all threads, which all touch what is new.
func (d *Device) copied(dst, src []float32) {
	n := min(len(dst), len(src))
	d.pool.Range(n, vectorBlock, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
}

// operate runs one operation on buffers of this device, in the order given.
func (d *Device) operate(run func(b []*buffer) error, buffers ...backend.Buffer) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	var few [backend.MaxTerms + 1]*buffer
	own := few[:0]
	for _, b := range buffers {
		h, err := d.own(b)
		if err != nil {
			return err
		}
		own = append(own, h)
	}
	return run(own)
}

// own returns this device's buffer behind b.
func (d *Device) own(b backend.Buffer) (*buffer, error) {
	h, ok := b.(*buffer)
	if !ok || h == nil {
		return nil, fmt.Errorf("%w: buffer of type %T on device cpu", backend.ErrForeign, b)
	}
	if h.device != d {
		return nil, fmt.Errorf("%w: buffer of another cpu device", backend.ErrForeign)
	}
	if h.gone() {
		return nil, fmt.Errorf("%w: buffer of %v", backend.ErrFreed, h.shape)
	}
	return h, nil
}
