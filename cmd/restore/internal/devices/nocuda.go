//go:build !cuda || !cgo

package devices

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
)

// bestCUDA returns the GPU that --backend auto takes by CUDA: none.
func bestCUDA(*message.Printer, bool) backend.Device { return nil }

// openCUDA says that this program knows nothing of CUDA.
func openCUDA(flag string, _ int) (backend.Device, error) {
	return nil, unavailable("--backend %s: this build has no CUDA support; use --backend vulkan, cpu or auto", flag)
}

// CUDA returns the GPUs that --backend can name, or why there are none: nothing, where
// that is a matter of the build.
func CUDA() ([]Device, string) { return nil, "" }
