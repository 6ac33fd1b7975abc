package vulkan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/dispatch"
	"github.com/averaged/imaging/internal/mempool"
	"github.com/averaged/imaging/internal/vulkan/driver"
)

// Option is an option of Open.
type Option func(*settings)

type settings struct{ precision Precision }

// UsePrecision sets the precision of convolutions; the default is Float32.
func UsePrecision(p Precision) Option { return func(s *settings) { s.precision = p } }

// Device is a GPU; it implements backend.Device. It is safe for concurrent use.
type Device struct {
	*dispatch.Device[*block]
	gpu *gpu
}

var _ backend.Device = (*Device)(nil)

// GPU describes the device.
func (d *Device) GPU() GPU { return d.gpu.GPU }

// gpu implements dispatch.GPU.
type gpu struct {
	*adapter
	settings
	pool   *pool
	stream *stream
}

// Open opens the device with this number of Devices, and compares it with the processor. Its error is a
// *Fault if the device or its driver does not work, and wraps backend.ErrUnsupported if the device lacks what
// the kernels need.
func Open(index int, options ...Option) (*Device, error) {
	g := &gpu{}
	for _, o := range options {
		o(&g.settings)
	}
	if g.precision > Half {
		return nil, fmt.Errorf("%w: vulkan with precision %v", backend.ErrArgument, g.precision)
	}
	var err error
	if g.adapter, err = acquire(index); err != nil {
		return nil, fmt.Errorf("vulkan:%d: %w", index, err)
	}
	if err := supported(g.GPU); err != nil {
		return nil, errors.Join(fmt.Errorf("vulkan:%d: %w", index, err), g.release(true, false))
	}
	g.pool = &pool{
		Limit: g.FreeMemory() / 10 * 9, Slab: slab,
		Allocate: func(bytes int64) (*driver.Memory, error) { return g.Allocate(bytes, false) },
		Free:     g.freeMemory,
	}
	g.stream = &stream{gpu: g.adapter, most: operationsOfSubmission, patience: patience}
	if g.Kind == Processor {
		g.stream.most, g.stream.patience = operationsOnProcessor, time.Hour
	}
	d, err := dispatch.Open[*block](g, &g.compared[g.precision])
	if err != nil {
		return nil, err
	}
	return &Device{d, g}, nil
}

// freeMemory gives memory back that the GPU may still be using.
func (g *gpu) freeMemory(m *driver.Memory) error {
	if err := g.stream.finish(); err != nil {
		return err
	}
	g.adapter.Free(m)
	return nil
}

// Fault implements dispatch.GPU.
func (g *gpu) Fault(err error) error {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return err
	}
	return &Fault{g.name(), g.Name, g.Driver, err}
}

func (g *gpu) name() string { return fmt.Sprintf("vulkan:%d", g.Index) }

// Description implements dispatch.GPU.
func (g *gpu) Description() backend.Description {
	return backend.Description{Name: g.name(), Model: g.Name, Memory: g.pool.Limit}
}

// Close implements dispatch.GPU. If the device does not answer, memory that it may still write to is not freed.
func (g *gpu) Close(failed bool) error {
	err := g.stream.finish()
	answers := !errors.Is(err, driver.ErrTimeout)
	if err != nil && answers {
		_ = g.Wait() // a device that was lost says so again
	}
	if answers {
		g.stream.close()
		g.pool.Close(g.adapter.Free)
	}
	return g.release(answers, failed)
}

// Alloc implements dispatch.GPU.
func (g *gpu) Alloc(bytes int64) (*block, error) {
	if bytes > math.MaxInt32 || bytes+mempool.Granule > g.MaxBinding {
		return nil, fmt.Errorf("%w: %d bytes are more than a shader of this GPU reaches", backend.ErrOutOfMemory, bytes)
	}
	b, err := g.pool.Alloc(bytes)
	if errors.Is(err, driver.ErrOutOfMemory) {
		err = fmt.Errorf("%w: %w", backend.ErrOutOfMemory, g.Fault(err))
	}
	return b, err
}

// Free implements dispatch.GPU.
func (g *gpu) Free(b *block) { g.pool.Release(b) }

// Fill implements dispatch.GPU.
func (g *gpu) Fill(b *block, offset, bytes int64, word uint32) error {
	return g.stream.fill(b, offset, bytes, word)
}

// Upload implements dispatch.GPU.
func (g *gpu) Upload(b *block, offset int64, src []byte) error {
	return g.stream.upload(b, offset, src)
}

// Download implements dispatch.GPU.
func (g *gpu) Download(dst []byte, b *block, offset int64) error {
	return g.stream.download(dst, b, offset)
}

// Finish implements dispatch.GPU.
func (g *gpu) Finish() error { return g.stream.finish() }

// Dispatch implements dispatch.GPU.
func (g *gpu) Dispatch(d *dispatch.Dispatch[*block]) error {
	k, err := g.kernel(d.Shader, d.Constants)
	if err != nil {
		return err
	}
	bindings := make([]driver.Binding, len(d.Operands), driver.MaxBindings)
	for i, o := range d.Operands {
		if o.Block == nil { // a shader has all of its bindings
			o = d.Operands[0]
		}
		bindings[i] = driver.Binding{Memory: o.Block.Memory(), Offset: o.Block.Offset + 4*int64(o.First), Size: 4 * int64(o.Count)}
	}
	return g.stream.dispatch(k, bindings, d.Push, d.X, d.Y, d.Operations)
}
