package devicekit

import (
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/hostblur"
	"github.com/averaged/imaging/internal/parallel"
)

// hostWork is what a device needs to work on the host for kernels: threads, from the first time on.
type hostWork struct {
	once sync.Once
	pool *parallel.Pool
}

func (h *hostWork) threads() *parallel.Pool {
	h.once.Do(func() { h.pool = parallel.New(0) })
	return h.pool
}

func (h *hostWork) close() {
	if h.pool != nil {
		h.pool.Close()
	}
}

// blurOnHost is a blur for kernels that have none: images go to the host and come back.
type blurOnHost[M, F any] struct {
	device *Device[M, F]
	blur   *hostblur.Blur
}

func (d *Device[M, F]) newHostBlur(spec backend.BlurSpec) (Blur[M], error) {
	kernels, err := fft.Selected()
	if err != nil {
		return nil, err
	}
	b := hostblur.New(spec)
	if err := b.Prepare(kernels, d.host.threads()); err != nil {
		return nil, err
	}
	return blurOnHost[M, F]{d, b}, nil
}

// Method implements Blur.
func (b blurOnHost[M, F]) Method() backend.BlurMethod { return b.blur.Method() }

// Free implements Blur: what there is is the collector's.
func (b blurOnHost[M, F]) Free() {}

// Apply implements Blur.
func (b blurOnHost[M, F]) Apply(dst, src Array[M]) error { return b.onHost(dst, src, b.blur.Apply) }

// ApplyAdjoint implements Blur.
func (b blurOnHost[M, F]) ApplyAdjoint(dst, src Array[M]) error {
	return b.onHost(dst, src, b.blur.ApplyAdjoint)
}

func (b blurOnHost[M, F]) onHost(dst, src Array[M], apply func(pool *parallel.Pool, planes int, dst, src []float32) error) error {
	from, to := make([]float32, src.Shape.Len()), make([]float32, dst.Shape.Len())
	if err := b.device.kernels.Download(from, src); err != nil {
		return err
	}
	if err := apply(b.device.host.threads(), src.Shape.N*src.Shape.C, to, from); err != nil {
		return err
	}
	return b.device.kernels.Upload(dst, to)
}
