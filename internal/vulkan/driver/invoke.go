//go:build ((linux && !android) || darwin || windows) && (amd64 || arm64)

package driver

import "github.com/ebitengine/purego"

// invoke calls the C function at an address, with arguments that are numbers or pointers.
func invoke(address uintptr, arguments ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(address, arguments...)
	return r
}
