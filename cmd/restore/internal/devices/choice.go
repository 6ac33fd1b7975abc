// Package devices finds what computes: a GPU by CUDA or Vulkan, or the processor, which also takes over where a GPU fails.
package devices

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/cmd/restore/internal/message"
)

// Choice says which device is wanted.
type Choice struct {
	Backend   string // auto, cpu, cuda[:N] or vulkan[:N]
	Named     bool   // Backend was given by the user, be it as "auto"
	Threads   int    // on the processor; 0: all
	Gradients bool   // they are needed, which Vulkan devices do not make
}

// Unavailable is the error of a device that was asked for and is not there.
type Unavailable struct{ error }

func (e Unavailable) Unwrap() error { return e.error }

func unavailable(format string, args ...any) error { return Unavailable{fmt.Errorf(format, args...)} }

// Open returns the device, which the caller closes, and prints what a user should know of the choice.
func (c *Choice) Open(p *message.Printer) (backend.Device, error) {
	kind, number := c.Backend, 0
	for _, gpu := range []string{"cuda", "vulkan"} {
		if n, ok := strings.CutPrefix(c.Backend, gpu); ok && isGPUNumber(n) {
			kind = gpu
			number, _ = strconv.Atoi(strings.TrimPrefix(n, ":")) // none is 0
		}
	}
	switch kind {
	case "auto":
		if dev := bestCUDA(p, c.Named); dev != nil {
			return dev, nil
		}
		if !c.Gradients {
			if dev := bestVulkan(p, c.Threads); dev != nil {
				return dev, nil
			}
		}
	case "cpu":
	case "cuda":
		return openCUDA(c.Backend, number)
	case "vulkan":
		return c.openVulkan(p, number)
	default:
		return nil, unavailable("--backend %s: want auto, cpu, cuda[:N] or vulkan[:N]", message.OneLine(c.Backend))
	}
	return c.Processor()
}

// Processor returns the processor as a device, which the caller closes.
func (c *Choice) Processor() (backend.Device, error) {
	dev, err := cpu.Open(cpu.Threads(c.Threads))
	if err != nil {
		return nil, Unavailable{err}
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
	return message.OneLine(text)
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
