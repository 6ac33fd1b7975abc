//go:build !(((linux && !android) || darwin || windows) && (amd64 || arm64))

package driver

import "errors"

// No library is looked for: purego does not work here, or handles do not fit a pointer.
var libraryNames []string

var errNowhere = errors.New("no library is opened on this platform")

func openLibrary(string) (uintptr, error)          { return 0, errNowhere }
func symbol(uintptr, string) (uintptr, error)      { return 0, errNowhere }
func invoke(address uintptr, _ ...uintptr) uintptr { return address }
