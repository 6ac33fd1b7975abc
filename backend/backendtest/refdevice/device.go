package refdevice

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Options of a device. The zero value is a device that can do everything.
type Options struct {
	// Memory is the number of bytes for all buffers, four for an element; 0 means 64 MiB.
	Memory int64
	// Unsupported names operations that return ErrUnsupported.
	Unsupported []string
	// Plain leaves out the optional interfaces of devicekit.
	Plain bool
	// Fault, if not nil, is called before each operation is done, long after the operation's call has
	// returned. If it returns an error, the operation is left out, and the error is one that the device found
	// late.
	Fault func(operation string) error
}

// Device implements backend.Device.
type Device struct {
	*devicekit.Device[[]float64, *filter]
}

// stream is the kernels of a Device.
type stream struct {
	options Options
	work    chan task
	used    atomic.Int64
	done    chan struct{} // closed when the stream's goroutine has ended

	lateMu sync.Mutex
	late   error
}

// plain are kernels with none of the optional ones.
type plain struct {
	devicekit.Kernels[[]float64, *filter]
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
	d := &stream{options: options, work: make(chan task, queueLength), done: make(chan struct{})}
	go d.run()
	if options.Plain {
		return &Device{devicekit.New[[]float64, *filter](plain{d}, false)}
	}
	return &Device{devicekit.New(d, false)}
}

// run does the work in the order of the calls.
func (d *stream) run() {
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
func (d *stream) takeLate() error {
	d.lateMu.Lock()
	defer d.lateMu.Unlock()
	err := d.late
	d.late = nil
	return err
}

// Description implements devicekit.Kernels.
func (d *stream) Description() backend.Description {
	return backend.Description{Name: "ref", Model: "queued float64 reference", Memory: d.options.Memory}
}

// Sync implements devicekit.Kernels.
func (d *stream) Sync() error { return d.wait("Sync", func() {}) }

// Close implements devicekit.Kernels.
func (d *stream) Close() error {
	close(d.work)
	<-d.done
	return d.takeLate()
}

// has returns an error for an operation that the device was told to lack.
func (d *stream) has(operation string) error {
	if slices.Contains(d.options.Unsupported, operation) {
		return fmt.Errorf("refdevice: %s: %w", operation, backend.ErrUnsupported)
	}
	return nil
}

// queue ends a call by putting its work on the stream.
func (d *stream) queue(operation string, run func()) error {
	if err := d.has(operation); err != nil {
		return err
	}
	d.work <- task{operation, run}
	return nil
}

// wait ends a call by putting its work on the stream and waiting for it. It
// reports what the device found late until then.
func (d *stream) wait(operation string, run func()) error {
	if err := d.queue(operation, run); err != nil {
		return err
	}
	finished := make(chan struct{})
	d.work <- task{"", func() { close(finished) }}
	<-finished
	return d.takeLate()
}
