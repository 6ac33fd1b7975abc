//go:build windows && (amd64 || arm64)

package driver

import "golang.org/x/sys/windows"

var libraryNames = []string{"vulkan-1.dll"}

// openLibrary looks in the system's folder alone, so that no library beside a picture is taken.
func openLibrary(name string) (uintptr, error) {
	h, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	return uintptr(h), err
}

func symbol(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}
