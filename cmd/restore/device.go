package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/restore"
)

// computing holds the flags about what computes.
type computing struct {
	backend string
	threads int
	// gradients: they are needed, which Vulkan devices do not make.
	gradients bool
	// teller returns what prints remarks about the choice of a device.
	teller func() *app
	// asked tells whether the device was named, be it by "auto".
	asked func() bool
}

func (c *computing) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.backend, "backend", "auto", "compute on `DEVICE`: auto, cpu, cuda[:N] or vulkan[:N]; auto: the fastest that works")
	f.IntVar(&c.threads, "threads", 0, "`N` threads on the processor, 0: all; the result does not depend on it")
	manual.Expert(cmd, "backend", "threads")
	words := newChoice("auto", "cpu", "cuda", "vulkan")
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
	kind, number := c.backend, 0
	for _, gpu := range []string{"cuda", "vulkan"} {
		if n, ok := strings.CutPrefix(c.backend, gpu); ok && isGPUNumber(n) {
			kind = gpu
			number, _ = strconv.Atoi(strings.TrimPrefix(n, ":")) // none is 0
		}
	}
	switch kind {
	case "auto":
		if dev := bestCUDA(c.teller(), c.asked()); dev != nil {
			return dev, nil
		}
		if !c.gradients {
			if dev := bestVulkan(c.teller(), c.threads); dev != nil {
				return dev, nil
			}
		}
	case "cpu":
	case "cuda":
		return openCUDA(c.backend, number)
	case "vulkan":
		return c.openVulkan(number)
	default:
		return nil, usagef("--backend %s: want auto, cpu, cuda[:N] or vulkan[:N]", oneLine(c.backend))
	}
	return c.openProcessor()
}

// openProcessor returns the processor as a device, which the caller closes.
func (c *computing) openProcessor() (backend.Device, error) {
	dev, err := cpu.Open(cpu.Threads(c.threads))
	if err != nil {
		return nil, usageError{err}
	}
	return dev, nil
}

// gpuCause is an error without the name of the package, or of the GPU, that stands before it.
func gpuCause(backend string, err error) string {
	text := err.Error()
	before, after, ok := strings.Cut(text, ": ")
	if number, named := strings.CutPrefix(before, backend); ok && named && isGPUNumber(number) {
		text = after
	}
	return oneLine(text)
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
