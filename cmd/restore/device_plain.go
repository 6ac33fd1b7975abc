//go:build !cuda || !cgo

package main

import "github.com/averaged/imaging/backend"

// bestCard returns the card that --backend auto takes: none.
func bestCard(*app, bool) backend.Device { return nil }

// openCard says that there are no cards for this program.
func openCard(flag string, _ int) (backend.Device, error) {
	return nil, usagef("--backend %s: this build has no CUDA support; use --backend cpu", flag)
}

// cards returns the cards that --backend can name, or why there are none: nothing, where
// that is a matter of the build.
func cards() ([]device, string) { return nil, "" }
