//go:build js && wasm

package webgpu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall/js"

	"github.com/averaged/imaging/internal/dispatch"
)

// ErrNoAdapter: this browser has no WebGPU, or no GPU for it.
var ErrNoAdapter = errors.New("no WebGPU")

// Info is what a browser says of an adapter. Some texts may be empty.
type Info struct {
	Vendor, Architecture, Device, Description string
	Software                                  bool // it computes on the processor
}

// Name names the adapter for people.
func (i Info) Name() string {
	if i.Description != "" {
		return i.Description
	}
	var words []string
	for _, w := range []string{i.Vendor, i.Architecture, i.Device} {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "a GPU without a name"
	}
	return strings.Join(words, " ")
}

// adapter is a device of the browser's with the kernels that have been asked for so far. The devices that
// Open makes share it, as browsers take long to compile kernels.
type adapter struct {
	Info
	device, queue js.Value
	maxBinding    int // bytes of a binding, and of a buffer
	kernels       map[string]kernel
	users         int   // guarded by adapters
	lost          error // why the device is no more
	errors        js.Func
	compared      dispatch.Comparison
}

// kernel is a compiled shader.
type kernel struct{ pipeline, layout js.Value }

var adapters struct {
	sync.Mutex
	open map[bool]*adapter // by whether software was asked for
}

// acquire returns the adapter; release gives it back.
func acquire(software bool) (*adapter, error) {
	adapters.Lock()
	defer adapters.Unlock()
	if a := adapters.open[software]; a != nil && a.lost == nil {
		a.users++
		return a, nil
	}
	a, err := newAdapter(software)
	if err != nil {
		return nil, err
	}
	if adapters.open == nil {
		adapters.open = map[bool]*adapter{}
	}
	adapters.open[software] = a
	a.users = 1
	return a, nil
}

// release destroys the device after its last user, or after a failure, so that who comes next gets another.
func (a *adapter) release(failed bool) {
	adapters.Lock()
	defer adapters.Unlock()
	a.users--
	if failed && a.lost == nil {
		a.lost = errors.New("it has failed before")
	}
	if a.users == 0 {
		for software, open := range adapters.open {
			if open == a {
				delete(adapters.open, software)
			}
		}
		a.device.Call("removeEventListener", "uncapturederror", a.errors)
		a.errors.Release()
		a.device.Call("destroy")
	}
}

func newAdapter(software bool) (a *adapter, err error) {
	defer catch(&err)
	gpu := js.Global().Get("navigator").Get("gpu")
	if !gpu.Truthy() {
		return nil, fmt.Errorf("%w in this browser", ErrNoAdapter)
	}
	from, err := await(gpu.Call("requestAdapter", map[string]any{"powerPreference": "high-performance", "forceFallbackAdapter": software}))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoAdapter, err)
	}
	if !from.Truthy() {
		return nil, fmt.Errorf("%w: the browser finds no GPU for it", ErrNoAdapter)
	}
	a = &adapter{kernels: map[string]kernel{}}
	info := from.Get("info")
	if info.Truthy() {
		for _, field := range []struct {
			to   *string
			name string
		}{{&a.Vendor, "vendor"}, {&a.Architecture, "architecture"}, {&a.Device, "device"}, {&a.Description, "description"}} {
			if v := info.Get(field.name); v.Type() == js.TypeString {
				*field.to = v.String()
			}
		}
		a.Software = info.Get("isFallbackAdapter").Truthy()
	}
	a.Software = a.Software || from.Get("isFallbackAdapter").Truthy() // where older browsers have it
	if a.Software && !software {
		return nil, fmt.Errorf("%w: %s computes on the processor", ErrNoAdapter, a.Name())
	}
	limits := from.Get("limits")
	most := func(name string) int { return limits.Get(name).Int() }
	a.maxBinding = min(most("maxStorageBufferBindingSize"), most("maxBufferSize"))
	a.device, err = await(from.Call("requestDevice", map[string]any{"requiredLimits": map[string]any{
		"maxStorageBufferBindingSize": most("maxStorageBufferBindingSize"), "maxBufferSize": most("maxBufferSize"),
	}}))
	if err != nil {
		return nil, &Fault{a.Name(), err}
	}
	a.queue = a.device.Get("queue")
	a.watch()
	return a, nil
}

// watch takes notice of what the browser says of the device without being asked.
func (a *adapter) watch() {
	var lost js.Func
	lost = js.FuncOf(func(_ js.Value, args []js.Value) any {
		if a.lost == nil {
			a.lost = fmt.Errorf("the device is lost: %s", text(args[0]))
		}
		lost.Release()
		return nil
	})
	a.device.Get("lost").Call("then", lost)
	a.errors = js.FuncOf(func(_ js.Value, args []js.Value) any {
		if a.lost == nil {
			a.lost = errors.New(text(args[0].Get("error")))
		}
		args[0].Call("preventDefault")
		return nil
	})
	a.device.Call("addEventListener", "uncapturederror", a.errors)
}

// kernel returns a shader of kernels, compiled with these constants, for operands of which number k is in
// the buffer of number first[k].
func (a *adapter) kernel(name string, constants []uint32, first []int) (k kernel, err error) {
	defer catch(&err)
	key := fmt.Sprint(name, constants, first)
	if k, ok := a.kernels[key]; ok {
		return k, nil
	}
	code, err := source(name)
	if err == nil {
		code, err = merge(code, first)
	}
	if err != nil {
		return k, fmt.Errorf("kernel %s: %w", name, err)
	}
	values := map[string]any{}
	for id, v := range constants {
		values[strconv.Itoa(id)] = v
	}
	k.pipeline, err = await(a.device.Call("createComputePipelineAsync", map[string]any{
		"layout":  "auto",
		"compute": map[string]any{"module": a.device.Call("createShaderModule", map[string]any{"code": code}), "constants": values},
	}))
	if err != nil {
		return k, fmt.Errorf("kernel %s: %w", name, err)
	}
	k.layout = k.pipeline.Call("getBindGroupLayout", 0)
	a.kernels[key] = k
	return k, nil
}
