//go:build js && wasm

package webgpu

import (
	"syscall/js"
	"testing"
)

// faults says which calls of WebGPU fail.
type faults struct {
	calls    map[string]int // since it was cleared
	function string
	at       int    // the call that fails
	kind     string // how: see faulty.js
}

// fakeGPU puts testdata/faulty.js in place of the browser's WebGPU until the test ends. The page that runs the
// tests has it, since none may compile strings.
func fakeGPU(t *testing.T) *faults {
	leaveKept(t)
	f := &faults{calls: map[string]int{}}
	ask := js.FuncOf(func(_ js.Value, args []js.Value) any {
		name := args[0].String()
		f.calls[name]++
		if name == f.function && f.calls[name] == f.at+1 {
			return f.kind
		}
		return ""
	})
	navigator := js.Global().Get("navigator")
	fake := js.Global().Call("faulty", navigator.Get("gpu"), ask)
	js.Global().Get("Object").Call("defineProperty", navigator, "gpu", map[string]any{"value": fake, "configurable": true})
	t.Cleanup(func() {
		js.Global().Get("Reflect").Call("deleteProperty", navigator, "gpu")
		ask.Release()
	})
	return f
}

// fail makes a call of a function fail from now on, counted from 0; "" makes none.
func (f *faults) fail(function string, at int, kind string) {
	clear(f.calls)
	f.function, f.at, f.kind = function, at, kind
}
