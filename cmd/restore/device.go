package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/devices"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/restore"
)

// computing holds the flags about what computes.
type computing struct {
	devices.Choice
	flags *pflag.FlagSet
}

func (c *computing) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	c.flags = f
	f.StringVar(&c.Backend, "backend", "auto", "compute on `DEVICE`: auto, cpu, cuda[:N] or vulkan[:N]; auto: the fastest that works")
	f.IntVar(&c.Threads, "threads", 0, "`N` threads on the processor, 0: all; the result does not depend on it")
	manual.Expert(cmd, "backend", "threads")
	words := newChoice("auto", "cpu", "cuda", "vulkan")
	completeChoice(cmd, "backend", &words)
}

// check finds what is wrong without a device.
func (c *computing) check() error {
	c.Named = c.flags.Changed("backend")
	if err := restore.Validate(restore.Threads(c.Threads)); err != nil {
		return optionError(err)
	}
	return nil
}

// open returns the device, which the caller closes.
func (a *app) open(c *computing) (backend.Device, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.Open(&a.Printer)
}

// start makes what computes on the device, with what load puts there.
func (a *app) start(c *computing, load func(backend.Device) ([]restore.Option, func(), error)) (*devices.Failover, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return devices.Start(&c.Choice, &a.Printer, load)
}
