//go:build js && wasm

package main

import (
	"syscall/js"
	"unsafe"
)

// listen calls f with the data of every message to target, in their order and on a goroutine of
// its own, so that f may wait. It does not return.
func listen(target js.Value, ready func(), f func(message js.Value)) {
	messages := receive(target)
	ready()
	for m := range messages {
		f(m)
	}
}

// receive returns the messages to target. It has room for more than anybody sends before they are
// taken: a handler that waits would stop the browser's events.
func receive(target js.Value) <-chan js.Value {
	messages := make(chan js.Value, 1024)
	target.Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		messages <- args[0].Get("data")
		return nil
	}))
	return messages
}

// post sends a message. The arrays in transfer are gone from here.
func post(target js.Value, message map[string]any, transfer ...js.Value) {
	buffers := make([]any, len(transfer))
	for i, a := range transfer {
		buffers[i] = a.Get("buffer")
	}
	target.Call("postMessage", message, buffers)
}

// takeBytes returns what is in a Uint8Array.
func takeBytes(from js.Value) []byte {
	data := make([]byte, from.Get("length").Int())
	js.CopyBytesToGo(data, from)
	return data
}

// giveBytes returns a Uint8Array.
func giveBytes(data []byte) js.Value {
	to := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(to, data)
	return to
}

// takeFloats returns what is in a Uint8Array of numbers as WebAssembly has them, which
// giveFloats made.
func takeFloats(from js.Value) []float32 {
	data := make([]float32, from.Get("length").Int()/4)
	js.CopyBytesToGo(asBytes(data), from)
	return data
}

func giveFloats(data []float32) js.Value { return giveBytes(asBytes(data)) }

// asBytes is the memory of numbers.
func asBytes(data []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), 4*len(data))
}
