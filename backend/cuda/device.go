package cuda

import (
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// GPU describes a GPU without opening it.
type GPU struct {
	Ordinal       int    // the argument of Open
	Model         string // "NVIDIA H100 80GB HBM3"
	Major, Minor  int    // compute capability
	Memory        int64  // bytes
	DriverVersion int    // 1000·major + 10·minor of the CUDA version that the driver supports
}

// Devices returns the GPUs of this machine. If there is none, the error says why: a program without the build
// tag cuda, no driver, or no GPU.
func Devices() ([]GPU, error) {
	list, err := driver.List()
	if err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	gpus := make([]GPU, len(list))
	for i, p := range list {
		gpus[i] = GPU{p.Ordinal, p.Name, p.Major, p.Minor, p.Memory, p.DriverVersion}
	}
	return gpus, nil
}

// Option is an option of Open.
type Option func(*settings)

type settings struct {
	limit     int64
	precision Precision
	plain     bool // Float32 without tensor cores, as on GPUs that have none: for tests
}

// MemoryLimit sets the number of bytes of the GPU's memory that the device may hold, including its cache,
// before a call returns backend.ErrOutOfMemory; 0, the default, means all that is free when it is opened.
func MemoryLimit(bytes int64) Option { return func(s *settings) { s.limit = bytes } }

// UsePrecision sets the precision of convolutions; the default is Float32.
func UsePrecision(p Precision) Option { return func(s *settings) { s.precision = p } }

// Device is a GPU; it implements backend.Device. It is safe for concurrent use.
type Device struct {
	*devicekit.Device[address, *filter]
	gpu *gpu
}

var _ backend.Device = (*Device)(nil)

// gpu is the kernels of a Device. One operation at a time is put on the stream.
type gpu struct {
	settings
	properties driver.Properties

	gpu driver.Device
	// planesInGrid is how many images or planes a grid has blocks for, the GPU's limit; tests
	// lower it, to see what kernels do with more.
	planesInGrid int
	stream       driver.Stream
	kernels      kernels
	pool         *pool
	staging      *staging
	graphs       graphs
}

// Open opens the GPU with this number, which needs compute capability 7.0. The error wraps
// backend.ErrUnsupported if the GPU is older or cannot do what the options require.
func Open(ordinal int, options ...Option) (*Device, error) {
	d := &gpu{planesInGrid: gridLimit}
	for _, o := range options {
		o(&d.settings)
	}
	if d.limit < 0 || d.precision > Half {
		return nil, fmt.Errorf("%w: cuda with a memory limit of %d and precision %v", backend.ErrArgument, d.limit, d.precision)
	}
	var err error
	if d.gpu, err = driver.Open(ordinal); err != nil {
		return nil, fmt.Errorf("cuda:%d: %w", ordinal, err)
	}
	d.properties = d.gpu.Properties()
	if err := d.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("cuda:%d: %w", ordinal, err), d.Close())
	}
	return &Device{devicekit.New(d, false), d}, nil
}

// supported returns an error if the GPU is too old, for all or for what the options ask for.
func (d *gpu) supported() error {
	p := d.properties
	switch {
	case p.Capability() < oldestGPU:
		return fmt.Errorf("%w: compute capability 7.0 or newer is needed, %s has %d.%d", backend.ErrUnsupported, p.Name, p.Major, p.Minor)
	case d.precision != Float32 && !d.hasTensorCores():
		return fmt.Errorf("%w: precision %v needs compute capability 8.0, %s has %d.%d", backend.ErrUnsupported, d.precision, p.Name, p.Major, p.Minor)
	}
	return nil
}

func (d *gpu) start() error {
	if err := d.supported(); err != nil {
		return err
	}
	free, _, err := d.gpu.MemoryInfo()
	if err != nil {
		return err
	}
	if d.limit == 0 {
		d.limit = free
	}
	if d.stream, err = d.gpu.NewStream(); err != nil {
		return err
	}
	d.pool = newPool(d.gpu, d.limit)
	d.kernels = newKernels(d.gpu)
	d.staging = newStaging(d.gpu, d.stream)
	d.graphs = newGraphs(d)
	d.pool.Reclaim = d.graphs.reclaim
	// Whether the driver translates the kernels at all is better known now than at the first
	// operation: who may take another device still can.
	if _, err = d.kernels.function("regions", "copy_region"); err != nil {
		return err
	}
	return nil
}

func (d *gpu) hasTensorCores() bool { return d.properties.Capability() >= tensorCores }

// Description implements devicekit.Kernels.
func (d *gpu) Description() backend.Description {
	return backend.Description{Name: fmt.Sprintf("cuda:%d", d.properties.Ordinal), Model: d.properties.Name, Memory: d.limit}
}

// Sync implements devicekit.Kernels.
func (d *gpu) Sync() error { return d.synchronize() }

func (d *gpu) synchronize() error { return translate(d.gpu.Synchronize(d.stream)) }

// Close implements devicekit.Kernels.
func (d *gpu) Close() error {
	var errs []error
	if d.stream != 0 {
		// The late error, if there is one; what follows would only repeat it.
		errs = append(errs, d.gpu.Synchronize(d.stream))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, d.releaseAll()...)
	}
	errs = append(errs, d.gpu.Close())
	return translate(errors.Join(errs...))
}

// releaseAll gives everything back that belongs to the context: another device of the same
// GPU may keep it alive.
func (d *gpu) releaseAll() []error {
	var errs []error
	errs = append(errs, d.graphs.free()...)
	errs = append(errs, d.kernels.unload()...)
	if d.staging != nil {
		errs = append(errs, d.staging.free()...)
	}
	if d.pool != nil {
		d.pool.Close(func(p driver.Pointer) { errs = append(errs, d.gpu.Free(p)) })
	}
	if d.stream != 0 {
		errs = append(errs, d.gpu.FreeStream(d.stream))
	}
	return errs
}

// translate turns errors of the driver into those of package backend.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, driver.ErrOutOfMemory):
		return fmt.Errorf("%w: cuda: %v", backend.ErrOutOfMemory, err)
	case errors.Is(err, driver.ErrClosed):
		return fmt.Errorf("%w: cuda: %v", backend.ErrClosed, err)
	}
	return fmt.Errorf("cuda: %w", err)
}
