//go:build js && wasm

// Command wasm is what the workers of the page in the browser run: package restore, compiled to
// WebAssembly. One instance restores pictures, and computes by package internal/spread on the
// others, each in a worker of its own. They share no memory, and say everything by messages.
//
// The script worker.js sets the global start before it runs the program: role says which of the
// two this instance is.
package main

import (
	"fmt"
	"runtime/debug"
	"syscall/js"
)

// What the garbage collector may leave: the heap is a handful of arrays as large as the picture,
// and WebAssembly has 4 GiB, which never get fewer again.
const (
	garbagePercent = 20
	memoryLimit    = 3 << 30
)

func main() {
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(memoryLimit)
	start := js.Global().Get("start")
	switch role := start.Get("role").String(); role {
	case "restorer":
		restorePictures(start)
	case "piece":
		computePieces()
	default:
		panic(fmt.Sprintf("no role %q", role)) // a mistake in the page
	}
}
