//go:build cuda && cgo

package devices

import (
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda"
	"github.com/averaged/imaging/cmd/restore/internal/message"
)

// bestCUDA returns the GPU that --backend auto takes by CUDA, or nil: the first one that opens,
// since the driver puts the fastest first. What is there and does not work is worth a
// line; that there is nothing, only for who asked for auto, and with -v.
func bestCUDA(p *message.Printer, named bool) backend.Device {
	all, err := cuda.Devices()
	switch {
	case isAbsent(err) && !named:
		p.Detail("%s; computing on the processor", gpuCause("cuda", err))
	case isAbsent(err):
		p.Note("%s; computing on the processor", gpuCause("cuda", err))
	case err != nil:
		p.Note("CUDA does not work: %s; computing on the processor", gpuCause("cuda", err))
	}
	for _, c := range all {
		dev, err := cuda.Open(c.Ordinal)
		if err == nil {
			p.Detail("computing on %s, %s", gpuName(c.Ordinal), c.Model)
			return dev
		}
		p.Note("%s, %s, does not work: %s; trying what comes next", gpuName(c.Ordinal), c.Model, gpuCause("cuda", err))
	}
	return nil
}

// openCUDA opens the GPU that --backend names.
func openCUDA(flag string, n int) (backend.Device, error) {
	dev, err := cuda.Open(n)
	if err != nil {
		return nil, unavailable("--backend %s: %s; use --backend cpu or auto", flag, gpuCause("cuda", err))
	}
	return dev, nil
}

// CUDA returns the GPUs that --backend can name, or why there are none.
func CUDA() ([]Device, string) {
	all, err := cuda.Devices()
	if err != nil {
		return nil, gpuCause("cuda", err)
	}
	var found []Device
	for _, c := range all {
		found = append(found, Device{
			Name: gpuName(c.Ordinal), Model: c.Model, Memory: c.Memory,
			Capability: fmt.Sprintf("%d.%d", c.Major, c.Minor),
		})
	}
	return found, ""
}

func gpuName(n int) string { return fmt.Sprintf("cuda:%d", n) }

func isAbsent(err error) bool {
	return errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice)
}
