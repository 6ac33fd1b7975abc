package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/restore"
)

// computing holds the flags about what computes.
type computing struct {
	backend string
	threads int
	// teller returns what prints remarks about the choice of a device.
	teller func() *app
	// asked tells whether the device was named, be it by "auto".
	asked func() bool
}

func (c *computing) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.backend, "backend", "auto", "compute on `DEVICE`: auto, cpu, or cuda[:N]; auto takes the fastest that works")
	f.IntVar(&c.threads, "threads", 0, "`N` threads on the processor, 0: all; the result does not depend on it")
	expert(cmd, "backend", "threads")
	words := newChoice("auto", "cpu", "cuda")
	completeChoice(cmd, "backend", &words)
	c.asked = func() bool { return f.Changed("backend") }
	c.teller = func() *app {
		a := &app{stderr: cmd.ErrOrStderr()}
		// The flags of every command; one that does not have them says nothing.
		a.quiet, _ = f.GetBool("quiet")
		a.verbose, _ = f.GetBool("verbose")
		return a
	}
}

// open returns the device, which the caller closes.
func (c *computing) open() (backend.Device, error) {
	if err := restore.Validate(restore.Threads(c.threads)); err != nil {
		return nil, optionError(err)
	}
	number, isCUDA := strings.CutPrefix(c.backend, "cuda")
	switch {
	case c.backend == "auto":
		if dev := bestGPU(c.teller(), c.asked()); dev != nil {
			return dev, nil
		}
	case c.backend == "cpu":
	case isCUDA && isGPUNumber(number):
		n, _ := strconv.Atoi(strings.TrimPrefix(number, ":")) // none is 0
		return openGPU(c.backend, n)
	default:
		return nil, usagef("--backend %s: want auto, cpu or cuda[:N]", oneLine(c.backend))
	}
	dev, err := cpu.Open(cpu.Threads(c.threads))
	if err != nil {
		return nil, usageError{err}
	}
	return dev, nil
}

// isGPUNumber accepts "" and ":N".
func isGPUNumber(s string) bool {
	if s == "" {
		return true
	}
	n, ok := strings.CutPrefix(s, ":")
	_, err := strconv.ParseUint(n, 10, 16)
	return ok && err == nil
}
