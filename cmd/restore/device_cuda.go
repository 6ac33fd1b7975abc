//go:build cuda && cgo

package main

import (
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda"
)

// bestCUDA returns the GPU that --backend auto takes by CUDA, or nil: the first one that opens,
// since the driver puts the fastest first. What is there and does not work is worth a
// line; that there is nothing, only for who asked for auto, and with -v.
func bestCUDA(a *app, asked bool) backend.Device {
	all, err := cuda.Devices()
	switch {
	case isAbsent(err) && !asked:
		a.detail("%s; computing on the processor", gpuCause("cuda", err))
	case isAbsent(err):
		a.note("%s; computing on the processor", gpuCause("cuda", err))
	case err != nil:
		a.note("CUDA does not work: %s; computing on the processor", gpuCause("cuda", err))
	}
	for _, c := range all {
		dev, err := cuda.Open(c.Ordinal)
		if err == nil {
			a.detail("computing on %s, %s", gpuName(c.Ordinal), c.Model)
			return dev
		}
		a.note("%s, %s, does not work: %s; trying what comes next", gpuName(c.Ordinal), c.Model, gpuCause("cuda", err))
	}
	return nil
}

// openCUDA opens the GPU that --backend names.
func openCUDA(flag string, n int) (backend.Device, error) {
	dev, err := cuda.Open(n)
	if err != nil {
		return nil, usagef("--backend %s: %s; use --backend cpu or auto", flag, gpuCause("cuda", err))
	}
	return dev, nil
}

// cudaDevices returns the GPUs that --backend can name, or why there are none.
func cudaDevices() ([]device, string) {
	all, err := cuda.Devices()
	if err != nil {
		return nil, gpuCause("cuda", err)
	}
	var found []device
	for _, c := range all {
		found = append(found, device{
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
