package cuda

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	ptx "github.com/averaged/imaging/backend/cuda/internal/kernels"
)

// The geometry of the kernels that go through arrays; see internal/kernels/elements.h.
const (
	blockThreads = 256
	perThread    = 4

	// A grid has at most so many blocks in y and in z.
	gridLimit = 65535
)

// kernels are the functions that have been asked for so far. The driver translates a file
// of them when its first one is.
type kernels struct {
	gpu       driver.Device
	modules   map[string]driver.Module
	functions map[string]*driver.Function
	dynamic   map[string]int // bytes of dynamic shared memory that are allowed
}

func newKernels(gpu driver.Device) kernels {
	return kernels{gpu, map[string]driver.Module{}, map[string]*driver.Function{}, map[string]int{}}
}

// function returns a kernel of kernels/FILE.cu.
func (k *kernels) function(file, name string) (*driver.Function, error) {
	key := file + "." + name
	if f := k.functions[key]; f != nil {
		return f, nil
	}
	m, loaded := k.modules[file]
	if !loaded {
		text, err := ptx.PTX(file, k.gpu.Properties().Capability())
		if err != nil {
			return nil, err
		}
		if m, err = k.gpu.LoadModule(text); err != nil {
			return nil, fmt.Errorf("kernels %s: %w", file, err)
		}
		k.modules[file] = m
	}
	f, err := k.gpu.Function(m, name)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", key, err)
	}
	k.functions[key] = f
	return f, nil
}

// allow lets a kernel use so many bytes of dynamic shared memory.
func (k *kernels) allow(f *driver.Function, key string, bytes int) error {
	if bytes <= k.dynamic[key] {
		return nil
	}
	if err := k.gpu.SetDynamicShared(f, bytes); err != nil {
		return err
	}
	k.dynamic[key] = bytes
	return nil
}

func (k *kernels) unload() []error {
	var errs []error
	for _, m := range k.modules {
		errs = append(errs, k.gpu.UnloadModule(m))
	}
	return errs
}

// ordinaryShared is how much shared memory every kernel may have.
const ordinaryShared = 48 << 10

// launch puts a kernel on the stream.
func (d *gpu) launch(file, name string, grid driver.Dim, shared int, args ...driver.Arg) error {
	if grid.X > math.MaxInt32 || grid.Y > gridLimit || grid.Z > gridLimit {
		return fmt.Errorf("%w: a grid of %d×%d×%d blocks", backend.ErrUnsupported, grid.X, grid.Y, grid.Z)
	}
	f, err := d.kernels.function(file, name)
	if err != nil {
		return translate(err)
	}
	if shared+f.Shared > ordinaryShared {
		if err := d.kernels.allow(f, file+"."+name, shared); err != nil {
			return translate(err)
		}
	}
	return translate(d.gpu.Launch(d.stream, f, grid, driver.Dim{X: blockThreads}, shared, args...))
}

// elements is the grid of a kernel that goes through n elements.
func elements(n int) driver.Dim { return driver.Dim{X: ceil(n, blockThreads*perThread)} }

// planes is the grid of a kernel whose blocks take so many pixels along x each, and share
// the planes along y.
func (d *gpu) planes(pixels, perBlock, planes int) driver.Dim {
	return driver.Dim{X: ceil(pixels, perBlock), Y: min(planes, d.planesInGrid)}
}

// ceil is a/b rounded up.
func ceil(a, b int) int { return (a-1)/b + 1 }

// number is an argument of type int. Sizes are checked where buffers are made.
func number(v int) driver.Arg { return driver.Int(int32(v)) }

// flag is an argument of type int that is 0 or 1.
func flag(v bool) driver.Arg {
	if v {
		return driver.Int(1)
	}
	return driver.Int(0)
}

// long is an argument of type long long.
func long(v int) driver.Arg { return driver.Long(int64(v)) }
