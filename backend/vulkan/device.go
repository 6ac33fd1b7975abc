package vulkan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/backend/vulkan/internal/driver"
)

// Option is an option of Open.
type Option func(*settings)

type settings struct {
	limit int64
}

// MemoryLimit sets the number of bytes of the GPU's memory that the device may hold before a call returns
// backend.ErrOutOfMemory; 0, the default, means nine tenths of what is free when it is opened.
func MemoryLimit(bytes int64) Option { return func(s *settings) { s.limit = bytes } }

// Device is a GPU; it implements backend.Device. It is safe for concurrent use.
type Device struct {
	*devicekit.Device[memory, *filter]
	gpu *gpu
}

var _ backend.Device = (*Device)(nil)

// GPU describes the device.
func (d *Device) GPU() GPU { return d.gpu.GPU }

// gpu is the kernels of a Device.
type gpu struct {
	*adapter
	settings
	pool   *pool
	stream *stream
	fault  error // the first; nothing works after it
	due    due
	host   backend.Device // what results are compared with, nil before the first
	// worked: a kernel has run since the canary was heard.
	worked bool
	canary *canary
}

// due says of what no tile has been compared since an image was uploaded.
type due struct{ flow, convolution, adjoint, variation bool }

// Open opens the device with this number of Devices, and compares it with the processor. Its error is a
// *Fault if the device or its driver does not work, and wraps backend.ErrUnsupported if the device lacks what
// the kernels need.
func Open(index int, options ...Option) (*Device, error) {
	g := &gpu{}
	for _, o := range options {
		o(&g.settings)
	}
	if g.limit < 0 {
		return nil, fmt.Errorf("%w: vulkan with a memory limit of %d", backend.ErrArgument, g.limit)
	}
	var err error
	if g.adapter, err = acquire(index); err != nil {
		return nil, fmt.Errorf("vulkan:%d: %w", index, err)
	}
	if err := supported(g.GPU); err != nil {
		return nil, errors.Join(fmt.Errorf("vulkan:%d: %w", index, err), g.release(true, false))
	}
	if g.limit == 0 {
		g.limit = g.FreeMemory() / 10 * 9
	}
	g.pool = &pool{
		limit:    g.limit,
		allocate: func(bytes int64) (*driver.Memory, error) { return g.Allocate(bytes, false) },
		free:     g.freeMemory,
	}
	g.stream = &stream{gpu: g.adapter, most: operationsOfSubmission, patience: patience}
	if g.Kind == Processor {
		g.stream.most, g.stream.patience = operationsOnProcessor, time.Hour
	}
	d := &Device{devicekit.New[memory, *filter](g, false), g}
	g.once.Do(func() { g.checked = g.compare(d) })
	err = g.checked
	if err == nil {
		err = g.newCanary()
	}
	if err != nil {
		err = g.failed(err)
		_ = d.Close() // it says the same
		return nil, err
	}
	return d, nil
}

// freeMemory gives memory back that the GPU may still be using, unless the GPU has failed.
func (g *gpu) freeMemory(m *driver.Memory) bool {
	if g.try(g.stream.finish()) != nil {
		return false
	}
	g.adapter.Free(m)
	return true
}

// try returns what is to be returned for an error of the driver, after which nothing works any more.
func (g *gpu) try(err error) error {
	if g.fault != nil {
		return g.fault
	}
	if err != nil {
		g.fault = g.failed(err)
	}
	return g.fault
}

// failed says what has failed. An error of package backend stays one, as it is nobody's fault.
func (g *gpu) failed(err error) error {
	var f *Fault
	if errors.As(err, &f) {
		return err
	}
	return &Fault{g.name(), g.Name, g.Driver, err}
}

func (g *gpu) name() string { return fmt.Sprintf("vulkan:%d", g.Index) }

// Description implements devicekit.Kernels.
func (g *gpu) Description() backend.Description {
	return backend.Description{Name: g.name(), Model: g.Name, Memory: g.limit}
}

// Sync implements devicekit.Kernels.
func (g *gpu) Sync() error {
	if g.fault != nil {
		return g.fault
	}
	return g.try(g.stream.finish())
}

// Close implements devicekit.Kernels. If the device does not answer, memory that it may still write to is not
// freed.
func (g *gpu) Close() error {
	err := g.stream.finish()
	answers := !errors.Is(err, driver.ErrTimeout)
	if err != nil && answers {
		_ = g.Wait() // a device that was lost says so again
	}
	if err != nil {
		err = g.try(err)
	}
	if g.host != nil {
		err = errors.Join(err, g.host.Close())
	}
	if answers {
		g.stream.close()
		g.pool.close(g.adapter.Free)
	}
	return errors.Join(err, g.release(answers, g.fault != nil))
}

// ConvolutionGrid implements devicekit.Kernels: a pixel is computed in the same way wherever it lies.
func (g *gpu) ConvolutionGrid() int { return 1 }

// memory is a part of a block, from a number on.
type memory struct {
	block *block
	first int
}

type array = devicekit.Array[memory]

// Alloc implements devicekit.Kernels.
func (g *gpu) Alloc(s backend.Shape) (memory, error) {
	m, err := g.alloc(s.Len())
	if err != nil {
		return m, err
	}
	return m, g.try(g.stream.fill(m.block, 0, 4*int64(s.Len()), 0))
}

// alloc returns memory of undefined contents for n numbers.
func (g *gpu) alloc(n int) (memory, error) {
	if g.fault != nil {
		return memory{}, g.fault
	}
	if n > math.MaxInt32/4 || 4*int64(n)+granule > g.MaxBinding {
		return memory{}, fmt.Errorf("%w: %d numbers are more than a shader of this GPU reaches", backend.ErrOutOfMemory, n)
	}
	b, err := g.pool.alloc(4 * int64(n))
	if err == nil {
		return memory{block: b}, nil
	}
	if errors.Is(err, driver.ErrOutOfMemory) {
		err = fmt.Errorf("%w: %w", backend.ErrOutOfMemory, g.failed(err))
	}
	if errors.Is(err, backend.ErrOutOfMemory) {
		return memory{}, err
	}
	return memory{}, g.try(err)
}

// Free implements devicekit.Kernels.
func (g *gpu) Free(m memory) { g.pool.release(m.block) }

// View implements devicekit.Kernels.
func (g *gpu) View(m memory, offset, _ int) memory {
	m.first += offset
	return m
}

// scratch is memory of one operation; the next one on the stream may have it.
type scratch struct {
	gpu    *gpu
	blocks []memory
}

func (s *scratch) alloc(n int) (memory, error) {
	m, err := s.gpu.alloc(n)
	if err == nil {
		s.blocks = append(s.blocks, m)
	}
	return m, err
}

func (s *scratch) free() {
	for _, m := range s.blocks {
		s.gpu.Free(m)
	}
}
