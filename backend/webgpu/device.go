//go:build js && wasm

package webgpu

import (
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/selftest"
)

// ErrWrong: a result differs from the processor's by more than rounding explains.
var ErrWrong = selftest.ErrWrong

// Fault is an error of the GPU or the browser, and none of who called.
type Fault struct {
	Adapter string
	Err     error
}

func (f *Fault) Error() string { return fmt.Sprintf("WebGPU on %s: %v", f.Adapter, f.Err) }

func (f *Fault) Unwrap() error { return f.Err }

// Option changes how Open makes a device.
type Option func(*settings)

type settings struct {
	limit    int64
	software bool
}

// defaultLimit is that of MemoryLimit. Browsers do not tell how much memory a GPU has.
const defaultLimit = 2 << 30

// MemoryLimit sets how many bytes of the GPU's memory the device may hold before a call returns
// backend.ErrOutOfMemory; 0, the default, means 2 GiB.
func MemoryLimit(bytes int64) Option { return func(s *settings) { s.limit = bytes } }

// Software makes Open take the browser's fallback adapter, which computes on the processor, slowly. It is
// for tests.
func Software() Option { return func(s *settings) { s.software = true } }

// Device is a GPU; it implements backend.Device. Safe for concurrent use.
type Device struct {
	*devicekit.Device[memory, *filter]
	gpu *gpu
}

var _ backend.Device = (*Device)(nil)

// Adapter describes the device.
func (d *Device) Adapter() Info { return d.gpu.Info }

// gpu is the kernels of a Device.
type gpu struct {
	*adapter
	settings
	pool   *pool
	stream *stream
	tester *selftest.Tester[memory, *filter]
	fault  error // the first; nothing works after it
	// nothing is for operands that a kernel does not read: buffers that differ, so that it is compiled once.
	nothing [3]memory
	// due: an image was uploaded, and no tile of what was made of it has been compared.
	due bool
	// worked: a kernel has run since the device has last shown that it still computes.
	worked bool
}

// Open opens the browser's GPU, and compares it with the processor. Its error wraps ErrNoAdapter where
// there is none, and is a *Fault where it does not work.
func Open(options ...Option) (*Device, error) {
	g := &gpu{settings: settings{limit: defaultLimit}}
	for _, o := range options {
		o(&g.settings)
	}
	if g.limit < 0 {
		return nil, fmt.Errorf("%w: webgpu with a memory limit of %d", backend.ErrArgument, g.limit)
	}
	if g.limit == 0 {
		g.limit = defaultLimit
	}
	var err error
	if g.adapter, err = acquire(g.software); err != nil {
		return nil, err
	}
	if g.stream, err = newStream(g.adapter); err != nil {
		g.release(true)
		return nil, g.failed(err)
	}
	g.pool = &pool{stream: g.stream, limit: g.limit, free: map[int][]*buffer{}, all: map[*buffer]bool{}}
	g.tester = &selftest.Tester[memory, *filter]{Kernels: g, Weights: (*filter).weights}
	d := &Device{devicekit.New(g, false), g}
	for i := range g.nothing {
		if g.nothing[i], err = g.alloc(1); err != nil {
			_ = d.Close() // it says the same
			return nil, err
		}
	}
	g.once.Do(func() { g.checked = g.tester.Operations(d) })
	if err = g.checked; err == nil {
		err = g.tester.Hear()
	}
	g.due = false
	if err != nil {
		err = g.try(err)
		_ = d.Close() // it says the same
		return nil, err
	}
	return d, nil
}

// try returns what is to be returned for an error of the browser, after which nothing works any more.
func (g *gpu) try(err error) error {
	if g.fault != nil {
		return g.fault
	}
	if err != nil {
		g.fault = g.failed(err)
	}
	return g.fault
}

// wrong is try for a comparison: its other errors are those of who called.
func (g *gpu) wrong(err error) error {
	if errors.Is(err, ErrWrong) {
		return g.try(err)
	}
	return err
}

// failed says what has failed.
func (g *gpu) failed(err error) error {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return err
	}
	return &Fault{g.Name(), err}
}

// Description implements devicekit.Kernels.
func (g *gpu) Description() backend.Description {
	return backend.Description{Name: "webgpu", Model: g.Name(), Memory: g.limit}
}

// Sync implements devicekit.Kernels.
func (g *gpu) Sync() error {
	if g.fault != nil {
		return g.fault
	}
	return g.try(g.stream.finish())
}

// Close implements devicekit.Kernels.
func (g *gpu) Close() error {
	err := g.Sync()
	err = errors.Join(err, g.tester.Close(), g.pool.close(), g.stream.close())
	g.release(g.fault != nil)
	return err
}

// ConvolutionGrid implements devicekit.Kernels: every pixel is made in the same way.
func (g *gpu) ConvolutionGrid() int { return 1 }
