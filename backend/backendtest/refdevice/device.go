package refdevice

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
)

// Options of a device. The zero value is a device that can do everything.
type Options struct {
	// Memory is how many bytes buffers may take in all, four for an element;
	// 0 means 64 MiB.
	Memory int64
	// Unsupported names operations that return ErrUnsupported.
	Unsupported []string
	// Fault, if not nil, is asked before each operation is done, long after its
	// call has returned. Where it returns an error the operation is left out and
	// the error is one that the device found late.
	Fault func(operation string) error
}

// Device implements backend.Device.
type Device struct {
	options Options
	work    chan task
	used    atomic.Int64

	mu     sync.Mutex // guards closed, all freed flags, and the order of work
	closed bool
	done   chan struct{} // closed when the stream's goroutine has ended

	lateMu sync.Mutex
	late   error
}

// task is one operation on the stream.
type task struct {
	operation string
	run       func()
}

// queueLength is how far calls may run ahead of the work.
const queueLength = 64

// New starts a device.
func New(options Options) *Device {
	if options.Memory == 0 {
		options.Memory = 64 << 20
	}
	d := &Device{options: options, work: make(chan task, queueLength), done: make(chan struct{})}
	go d.stream()
	return d
}

// stream does the work in the order of the calls.
func (d *Device) stream() {
	defer close(d.done)
	for t := range d.work {
		if d.options.Fault != nil && t.operation != "" {
			if err := d.options.Fault(t.operation); err != nil {
				d.lateMu.Lock()
				if d.late == nil {
					d.late = fmt.Errorf("refdevice: %s failed late: %w", t.operation, err)
				}
				d.lateMu.Unlock()
				continue
			}
		}
		t.run()
	}
}

// takeLate returns the first late error since the last call, and forgets it.
func (d *Device) takeLate() error {
	d.lateMu.Lock()
	defer d.lateMu.Unlock()
	err := d.late
	d.late = nil
	return err
}

// Description implements backend.Device.
func (d *Device) Description() backend.Description {
	return backend.Description{Name: "ref", Model: "queued float64 reference", Memory: d.options.Memory}
}

// Sync implements backend.Device.
func (d *Device) Sync() error {
	c := d.begin("Sync")
	return c.wait(func() {})
}

// Close implements backend.Device.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	close(d.work)
	<-d.done
	return d.takeLate()
}

// call is one operation while its arguments are checked. It holds the device's
// lock from begin to queue or wait; the first thing found wrong stays.
type call struct {
	device    *Device
	operation string
	err       error
}

func (d *Device) begin(operation string) *call {
	d.mu.Lock()
	c := &call{device: d, operation: operation}
	if d.closed {
		c.err = fmt.Errorf("refdevice: %s: %w", operation, backend.ErrClosed)
	} else if slices.Contains(d.options.Unsupported, operation) {
		c.err = fmt.Errorf("refdevice: %s: %w", operation, backend.ErrUnsupported)
	}
	return c
}

func (c *call) require(ok bool, err error, format string, arguments ...any) {
	if c.err == nil && !ok {
		c.err = fmt.Errorf("refdevice: %s: %w: %s", c.operation, err, fmt.Sprintf(format, arguments...))
	}
}

// check takes what a check of package backend says of the arguments.
func (c *call) check(err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("refdevice: %s: %w", c.operation, err)
	}
}

// buffer returns the device's own buffer behind b, or an empty one after an error.
func (c *call) buffer(b backend.Buffer) *buffer {
	own, ok := b.(*buffer)
	c.require(ok && own != nil && own.device == c.device, backend.ErrForeign, "buffer of type %T", b)
	if c.err == nil {
		c.require(!own.gone(), backend.ErrFreed, "buffer of %v", own.shape)
	}
	if c.err != nil {
		return &buffer{}
	}
	return own
}

// apart requires that the written buffer shares no memory with the others.
func (c *call) apart(written *buffer, others ...*buffer) {
	for _, o := range others {
		c.require(c.err != nil || !written.overlaps(o), backend.ErrAlias, "%v and %v", written.shape, o.shape)
	}
}

// apartOrSame also allows the others to be the written buffer.
func (c *call) apartOrSame(written *buffer, others ...*buffer) {
	for _, o := range others {
		c.require(c.err != nil || written.same(o) || !written.overlaps(o), backend.ErrAlias, "%v and %v", written.shape, o.shape)
	}
}

// queue ends a call by putting its work on the stream.
func (c *call) queue(run func()) error {
	defer c.device.mu.Unlock()
	if c.err == nil {
		c.device.work <- task{c.operation, run}
	}
	return c.err
}

// wait ends a call by putting its work on the stream and waiting for it. It
// reports what the device found late until then.
func (c *call) wait(run func()) error {
	finished := make(chan struct{})
	if c.err == nil {
		c.device.work <- task{c.operation, run}
		c.device.work <- task{"", func() { close(finished) }}
	}
	c.device.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	<-finished
	return c.device.takeLate()
}

// refuse ends a call that puts nothing on the stream.
func (c *call) refuse() error {
	c.device.mu.Unlock()
	return c.err
}
