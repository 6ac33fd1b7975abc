//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"syscall/js"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/backend/webgpu"
	"github.com/averaged/imaging/internal/spread"
	"github.com/averaged/imaging/restore"
)

// computer is what pictures are restored on: the GPU, or workers where there is none or it has failed.
type computer struct {
	start    js.Value
	restorer *restore.Restorer
	gpu      *webgpu.Device // or nil
	workers  int
	why      string // the workers were taken though there is a GPU
}

// newComputer opens the GPU that start asks for, by "gpu": "yes", "no", or "software" for tests.
func newComputer(start js.Value) (*computer, error) {
	c := &computer{start: start}
	var options []webgpu.Option
	switch start.Get("gpu").String() {
	case "no":
		return c, c.useWorkers()
	case "software":
		options = append(options, webgpu.Software())
	}
	dev, err := webgpu.Open(options...)
	if err != nil {
		if !errors.Is(err, webgpu.ErrNoAdapter) {
			c.why = err.Error()
		}
		return c, c.useWorkers()
	}
	c.gpu = dev
	c.restorer, err = restore.New(restore.Device(dev))
	return c, err
}

// useWorkers starts the workers.
func (c *computer) useWorkers() error {
	workers, err := newWorkers(c.start.Get("workers").Int(), c.start.Get("url"), c.start.Get("module"))
	if err != nil {
		return err
	}
	host, err := cpu.Open(cpu.Threads(1))
	if err != nil {
		return err
	}
	c.workers = len(workers)
	c.restorer, err = restore.New(restore.Device(spread.New(host, workers)))
	return err
}

// fault tells why the workers are to compute again what ended with an error, "" if they are not: the
// GPU has failed, or has no room for the smallest tile.
func (c *computer) fault(err error) string {
	if c.gpu == nil || err == nil {
		return ""
	}
	var f *webgpu.Fault
	switch {
	case errors.As(err, &f):
		return f.Error()
	case errors.Is(err, backend.ErrOutOfMemory):
		return fmt.Sprintf("WebGPU on %s: out of memory", c.gpu.Adapter().Name())
	}
	return ""
}

// fallBack computes on workers from now on.
func (c *computer) fallBack(why string) error {
	_ = c.restorer.Close() // of a device that has failed, and says so again
	_ = c.gpu.Close()
	c.gpu, c.why = nil, why
	return c.useWorkers()
}

// String names the computer for people, in one line.
func (c *computer) String() string {
	switch {
	case c.gpu != nil:
		return "the GPU, " + c.gpu.Adapter().Name()
	case c.why != "":
		return fmt.Sprintf("%d workers (%s)", c.workers, c.why)
	}
	return fmt.Sprintf("%d workers", c.workers)
}
