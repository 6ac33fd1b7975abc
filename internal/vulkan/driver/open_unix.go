//go:build ((linux && !android) || darwin) && (amd64 || arm64)

package driver

import "github.com/ebitengine/purego"

func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func symbol(library uintptr, name string) (uintptr, error) { return purego.Dlsym(library, name) }
