//go:build !(cuda && cgo && linux && (amd64 || arm64))

package driver

import "fmt"

// List returns the GPUs of this machine. Without the build tag cuda it returns
// ErrNoDriver.
func List() ([]Properties, error) { return nil, errNotBuilt() }

// Open opens the GPU with the given number. Without the build tag cuda it returns
// ErrNoDriver.
func Open(ordinal int) (Device, error) { return nil, errNotBuilt() }

func errNotBuilt() error {
	return fmt.Errorf("%w: this program was built without CUDA support (it wants -tags cuda, cgo, and Linux on amd64 or arm64)", ErrNoDriver)
}
