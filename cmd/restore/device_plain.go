//go:build !cuda || !cgo

package main

import "github.com/averaged/imaging/backend"

// bestCUDA returns the GPU that --backend auto takes by CUDA: none.
func bestCUDA(*app, bool) backend.Device { return nil }

// openCUDA says that this program knows nothing of CUDA.
func openCUDA(flag string, _ int) (backend.Device, error) {
	return nil, usagef("--backend %s: this build has no CUDA support; use --backend vulkan, cpu or auto", flag)
}

// cudaDevices returns the GPUs that --backend can name, or why there are none: nothing, where
// that is a matter of the build.
func cudaDevices() ([]device, string) { return nil, "" }
