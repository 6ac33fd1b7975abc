//go:build !cuda || !cgo

package main

import "github.com/averaged/imaging/backend"

// bestGPU returns the GPU that --backend auto takes: none.
func bestGPU(*app, bool) backend.Device { return nil }

// openGPU says that there are no GPUs for this program.
func openGPU(flag string, _ int) (backend.Device, error) {
	return nil, usagef("--backend %s: this build has no CUDA support; use --backend cpu", flag)
}

// gpus returns the GPUs that --backend can name, or why there are none: nothing, where
// that is a matter of the build.
func gpus() ([]device, string) { return nil, "" }
