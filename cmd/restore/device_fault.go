package main

import (
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/restore"
)

// failover computes on a device, and on the processor from then on where the device fails.
type failover struct {
	app *app
	// load puts what the inputs have in common on a device, unless it is nil. Its options are those that
	// name what is there; done frees it.
	load      func(dev backend.Device) (opts []restore.Option, done func(), err error)
	processor func() (backend.Device, error)

	dev  backend.Device
	opts []restore.Option
	done func()
}

// begin loads what is needed on a device, or on the processor. It takes the device over.
func (f *failover) begin(dev backend.Device) error {
	f.dev, f.opts, f.done = dev, []restore.Option{restore.Device(dev)}, func() {}
	if f.load == nil {
		return nil
	}
	opts, done, err := f.load(dev)
	if why, failed := deviceFault(dev, err); failed {
		return f.continueOnProcessor(why)
	}
	if err != nil {
		return err
	}
	f.opts, f.done = append(f.opts, opts...), done
	return nil
}

// continueOnProcessor begins again on the processor.
func (f *failover) continueOnProcessor(why string) error {
	f.app.note("%s; the processor takes over", why)
	f.end()
	dev, err := f.processor()
	if err != nil {
		f.dev, f.done = nil, nil
		return err
	}
	return f.begin(dev)
}

// run runs what computes with these options and those of the device, and again where the device fails.
func (f *failover) run(opts []restore.Option, compute func(opts []restore.Option) error) error {
	err := compute(slices.Concat(opts, f.opts))
	why, failed := deviceFault(f.dev, err)
	if !failed {
		return err
	}
	if err := f.continueOnProcessor(why); err != nil {
		return err
	}
	return compute(slices.Concat(opts, f.opts))
}

// on runs what computes on the device, and again where the device fails.
func (f *failover) on(compute func(dev backend.Device) error) error {
	return f.run(nil, func([]restore.Option) error { return compute(f.dev) })
}

// end frees all.
func (f *failover) end() {
	if f.dev != nil {
		f.done()
		_ = f.dev.Close() // of work that has been waited for, or of a device that has failed
	}
}
