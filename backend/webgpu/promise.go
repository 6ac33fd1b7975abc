//go:build js && wasm

package webgpu

import (
	"errors"
	"fmt"
	"syscall/js"
)

// await blocks the goroutine until a promise is settled.
func await(promise js.Value) (js.Value, error) {
	type settled struct {
		value js.Value
		err   error
	}
	done := make(chan settled, 1)
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{value: args[0]}
		return nil
	})
	defer kept.Release()
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{err: errors.New(text(args[0]))}
		return nil
	})
	defer broken.Release()
	promise.Call("then", kept, broken)
	s := <-done
	return s.value, s.err
}

// text is what an error of JavaScript says.
func text(v js.Value) string {
	if v.Type() == js.TypeObject && v.Get("message").Type() == js.TypeString {
		return v.Get("message").String()
	}
	return js.Global().Get("String").Invoke(v).String()
}

// catch makes an error of an exception of JavaScript: defer catch(&err).
func catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case js.Error:
		*err = fmt.Errorf("the browser: %s", text(e.Value))
	default:
		panic(e)
	}
}
