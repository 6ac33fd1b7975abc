package devices

import (
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/restore"
)

// Failover computes on a device, and on the processor from then on where the device fails.
type Failover struct {
	choice  *Choice
	printer *message.Printer
	load    func(dev backend.Device) (opts []restore.Option, done func(), err error)

	dev  backend.Device
	opts []restore.Option
	done func()
}

// Start opens the device of a choice. load puts on it, and on the processor if that takes over, what the inputs have
// in common, unless it is nil. Its options are those that name what is there; done frees it.
func Start(c *Choice, p *message.Printer, load func(dev backend.Device) (opts []restore.Option, done func(), err error)) (*Failover, error) {
	dev, err := c.Open(p)
	if err != nil {
		return nil, err
	}
	f := &Failover{choice: c, printer: p, load: load}
	if err := f.begin(dev); err != nil {
		f.End()
		return nil, err
	}
	return f, nil
}

// begin loads what is needed on a device, or on the processor. It takes the device over.
func (f *Failover) begin(dev backend.Device) error {
	f.dev, f.opts, f.done = dev, []restore.Option{restore.Device(dev)}, func() {}
	if f.load == nil {
		return nil
	}
	opts, done, err := f.load(dev)
	if why, failed := fault(dev, err); failed {
		return f.continueOnProcessor(why)
	}
	if err != nil {
		return err
	}
	f.opts, f.done = append(f.opts, opts...), done
	return nil
}

// continueOnProcessor begins again on the processor.
func (f *Failover) continueOnProcessor(why string) error {
	f.printer.Note("%s; the processor takes over", why)
	f.End()
	dev, err := f.choice.Processor()
	if err != nil {
		f.dev, f.done = nil, nil
		return err
	}
	return f.begin(dev)
}

// Run runs what computes with these options and those of the device, and again where the device fails.
func (f *Failover) Run(opts []restore.Option, compute func(opts []restore.Option) error) error {
	err := compute(slices.Concat(opts, f.opts))
	why, failed := fault(f.dev, err)
	if !failed {
		return err
	}
	if err := f.continueOnProcessor(why); err != nil {
		return err
	}
	return compute(slices.Concat(opts, f.opts))
}

// On runs what computes on the device, and again where the device fails.
func (f *Failover) On(compute func(dev backend.Device) error) error {
	return f.Run(nil, func([]restore.Option) error { return compute(f.dev) })
}

// End frees all.
func (f *Failover) End() {
	if f.dev != nil {
		f.done()
		_ = f.dev.Close() // of work that has been waited for, or of a device that has failed
	}
}
