//go:build js && wasm

package webgpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/dispatch"
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
	*dispatch.Device[*buffer]
	gpu *gpu
}

var _ backend.Device = (*Device)(nil)

// Adapter describes the device.
func (d *Device) Adapter() Info { return d.gpu.Info }

// gpu implements dispatch.GPU.
type gpu struct {
	*adapter
	settings
	pool   *pool
	stream *stream
	// nothing is for operands that a shader does not touch: buffers that differ, so that it is compiled once.
	nothing [3]*buffer
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
		return nil, g.Fault(err)
	}
	g.pool = &pool{stream: g.stream, limit: g.limit, free: map[int][]*buffer{}, all: map[*buffer]bool{}}
	for i := range g.nothing {
		if g.nothing[i], err = g.Alloc(4); err != nil {
			return nil, errors.Join(g.Fault(err), g.Close(true))
		}
	}
	d, err := dispatch.Open[*buffer](g, &g.compared)
	if err != nil {
		return nil, err
	}
	return &Device{d, g}, nil
}

// Fault implements dispatch.GPU.
func (g *gpu) Fault(err error) error {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return err
	}
	return &Fault{g.Name(), err}
}

// Description implements dispatch.GPU.
func (g *gpu) Description() backend.Description {
	return backend.Description{Name: "webgpu", Model: g.Name(), Memory: g.limit}
}

// Shaders implements dispatch.GPU.
func (g *gpu) Shaders() dispatch.Shaders {
	return dispatch.Shaders{Operations: g.stream.most, Tiling: tiling}
}

// tiling chooses the shader of a filter.
func tiling(outputs, kh, kw int) dispatch.Tiling {
	if kh != 3 || kw != 3 {
		return dispatch.Tiling{Shader: "convolve", Rows: 8, Columns: 32, Outputs: 8}
	}
	blocks, chunk := 4, uint32(4)
	switch {
	case outputs <= 8:
		blocks, chunk = 1, 2 // a larger tile
	case outputs <= 16:
		blocks = 2
	}
	return dispatch.Tiling{
		Shader: "convolve3", Constants: []uint32{uint32(blocks), chunk},
		Rows: dispatch.GroupThreads / blocks / 8, Columns: 32, Outputs: 8 * blocks,
	}
}

// Finish implements dispatch.GPU.
func (g *gpu) Finish() error { return g.stream.finish() }

// Close implements dispatch.GPU.
func (g *gpu) Close(failed bool) error {
	err := errors.Join(g.pool.close(), g.stream.close())
	g.release(failed)
	return err
}

// Alloc implements dispatch.GPU.
func (g *gpu) Alloc(bytes int64) (*buffer, error) {
	if bytes > int64(g.maxBinding) {
		return nil, fmt.Errorf("%w: %d bytes are more than a shader of this GPU reaches", backend.ErrOutOfMemory, bytes)
	}
	return g.pool.alloc(int(bytes))
}

// Free implements dispatch.GPU.
func (g *gpu) Free(b *buffer) { g.pool.release(b) }

// Fill implements dispatch.GPU.
func (g *gpu) Fill(b *buffer, offset, bytes int64, word uint32) error {
	if word == 0 {
		return g.stream.clear(b, offset, bytes)
	}
	first, n := int(offset/4), int(bytes/4)
	return g.Dispatch(&dispatch.Dispatch[*buffer]{
		Shader: "fill", Operands: []dispatch.Operand[*buffer]{{Block: b, Count: first + n}}, Push: []uint32{uint32(n), uint32(first), word},
		X: min(dispatch.MaxGroups, (n-1)/dispatch.GroupThreads+1), Y: 1, Operations: float64(n),
	})
}

// Upload implements dispatch.GPU.
func (g *gpu) Upload(b *buffer, offset int64, src []byte) error {
	return g.stream.upload(b, offset, src)
}

// Download implements dispatch.GPU.
func (g *gpu) Download(dst []byte, b *buffer, offset int64) error {
	return g.stream.download(dst, b, offset)
}

// Dispatch implements dispatch.GPU.
func (g *gpu) Dispatch(d *dispatch.Dispatch[*buffer]) error {
	operands := make([]*buffer, len(d.Operands))
	first := make([]int, len(operands)) // which operand is in the same buffer
	untouched := 0
	for i, o := range d.Operands {
		if operands[i] = o.Block; o.Block == nil {
			operands[i] = g.nothing[untouched]
			untouched++
		}
		first[i] = slices.Index(operands, operands[i])
	}
	k, err := g.kernel(d.Shader, d.Constants, first)
	if err != nil {
		return err
	}
	return g.stream.dispatch(k, operands, first, d.Push, d.X, d.Y, d.Operations)
}
