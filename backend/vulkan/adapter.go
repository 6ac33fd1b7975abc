package vulkan

import (
	"embed"
	"fmt"
	"slices"
	"sync"

	"github.com/averaged/imaging/internal/dispatch"
	"github.com/averaged/imaging/internal/vulkan/driver"
)

//go:embed kernels/*.spv
var shaders embed.FS

// adapter is an open device of the driver's with the kernels that have been asked for so far. The
// devices that Open makes of one GPU share it, as drivers take long to compile kernels.
type adapter struct {
	*driver.Device
	users    int  // guarded by adapters
	broken   bool // guarded by adapters: those that are opened from now on get another one
	mu       sync.Mutex
	kernels  map[string]*driver.Kernel
	compared [Half + 1]dispatch.Comparison // by precision
}

var adapters struct {
	sync.Mutex
	open map[int]*adapter
}

// acquire returns the adapter of a GPU; release gives it back.
func acquire(index int) (*adapter, error) {
	adapters.Lock()
	defer adapters.Unlock()
	if a := adapters.open[index]; a != nil {
		a.users++
		return a, nil
	}
	d, err := driver.Open(index)
	if err != nil {
		return nil, err
	}
	a := &adapter{Device: d, users: 1, kernels: map[string]*driver.Kernel{}}
	if adapters.open == nil {
		adapters.open = map[int]*adapter{}
	}
	adapters.open[index] = a
	return a, nil
}

// release closes the adapter after its last user. One that has failed is used by none that is opened
// later, and one that no longer answers is left as it is, since its memory may still be written to.
func (a *adapter) release(answers, failed bool) error {
	adapters.Lock()
	defer adapters.Unlock()
	a.users--
	if failed || !answers {
		a.broken = true
	}
	if a.broken && adapters.open[a.Index] == a {
		delete(adapters.open, a.Index)
	}
	if a.users > 0 || !answers {
		return nil
	}
	if adapters.open[a.Index] == a {
		delete(adapters.open, a.Index)
	}
	for _, k := range a.kernels {
		a.FreeKernel(k)
	}
	return a.Close()
}

// kernel returns a shader of kernels, compiled with these specialization constants.
func (a *adapter) kernel(name string, constants []uint32) (*driver.Kernel, error) {
	key := fmt.Sprint(name, constants)
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.kernels[key]; k != nil {
		return k, nil
	}
	code, err := shaders.ReadFile("kernels/" + name + ".spv")
	if err != nil {
		return nil, err
	}
	k, err := a.NewKernel(code, slices.Clone(constants)...)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	a.kernels[key] = k
	return k, nil
}
