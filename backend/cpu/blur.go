package cpu

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/fft"
)

// blur computes Kx as a valid convolution V of an extended image: K = V·E, where E
// continues the image by its boundary. The adjoint is Kᵀ = Eᵀ·Vᵀ: Vᵀ is the full
// correlation, and Eᵀ adds to every sample what the copies of it got. So one code
// serves all boundaries, and an image that is smaller than the kernel is nothing
// special.
type blur struct {
	device  *Device
	spec    backend.BlurSpec
	method  backend.BlurMethod
	bytes   int64
	freed   atomic.Bool
	y, x    extension   // E along columns and along rows
	taps    []tap       // of DirectBlur
	fourier *fft.Filter // of FourierBlur
}

// Spec implements backend.Blur; the kernel is a copy.
func (k *blur) Spec() backend.BlurSpec {
	s := k.spec
	s.Kernel = slices.Clone(s.Kernel)
	return s
}

// Method implements backend.Blur.
func (k *blur) Method() backend.BlurMethod { return k.method }

// Free implements backend.Blur. The memory goes back to Go's collector when no
// operation uses it any more.
func (k *blur) Free() {
	if !k.freed.Swap(true) {
		k.device.used.Add(-k.bytes)
	}
}

// NewBlur implements backend.Blurring.
func (d *Device) NewBlur(spec backend.BlurSpec) (backend.Blur, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if err := spec.Check(); err != nil {
		return nil, err
	}
	k := &blur{device: d, spec: spec, method: spec.Method}
	k.spec.Kernel = slices.Clone(spec.Kernel)

	ty, tx := fourierAxis(spec.H, spec.KH, spec.CY, spec.Boundary), fourierAxis(spec.W, spec.KW, spec.CX, spec.Boundary)
	if k.method == backend.AutoBlur {
		k.method = backend.DirectBlur
		if directCost(&spec) > fourierCost(ty, tx) {
			k.method = backend.FourierBlur
		}
	}
	k.bytes = int64(len(spec.Kernel)) * 4
	if k.method == backend.FourierBlur {
		k.bytes += fft.Bytes(ty.period, tx.period)
	}
	if used := d.used.Add(k.bytes); d.limit > 0 && used > d.limit {
		d.used.Add(-k.bytes)
		return nil, fmt.Errorf("%w: %d bytes for a blur", backend.ErrOutOfMemory, k.bytes)
	}
	if err := d.prepareBlur(k, ty, tx); err != nil {
		d.used.Add(-k.bytes)
		return nil, err
	}
	return k, nil
}

func (d *Device) prepareBlur(k *blur, ty, tx transformAxis) error {
	s := &k.spec
	if k.method == backend.DirectBlur {
		k.y = newExtension(s.H, s.KH, s.CY, s.Boundary)
		k.x = newExtension(s.W, s.KW, s.CX, s.Boundary)
		k.taps = tapsOf(s)
		return nil
	}
	k.y, k.x = ty.extension, tx.extension
	var err error
	k.fourier, err = fourierFilter(d.kernels.fft, d.pool, s, ty, tx)
	return err
}

// ownBlur returns this device's blur behind k.
func (d *Device) ownBlur(k backend.Blur) (*blur, error) {
	b, ok := k.(*blur)
	if !ok || b == nil {
		return nil, fmt.Errorf("%w: blur of type %T on device cpu", backend.ErrForeign, k)
	}
	if b.device != d {
		return nil, fmt.Errorf("%w: blur of another cpu device", backend.ErrForeign)
	}
	if b.freed.Load() {
		return nil, fmt.Errorf("%w: blur", backend.ErrFreed)
	}
	return b, nil
}

// ApplyBlur implements backend.Blurring.
func (d *Device) ApplyBlur(dst, src backend.Buffer, k backend.Blur) error {
	return d.operate(func(b []*buffer) error {
		k, err := d.blurBetween(k, b[1], b[0])
		if err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		extended := k.extended(b[1])
		planes := b[0].shape.N * b[0].shape.C
		if k.method == backend.DirectBlur {
			d.convolveDirectly(planes, rowsInto(b[0]), extended, k.taps)
			return nil
		}
		return k.fourier.Apply(d.pool, planes, rowsInto(b[0]), extended, false)
	}, dst, src)
}

// ApplyBlurAdjoint implements backend.Blurring.
func (d *Device) ApplyBlurAdjoint(dst, src backend.Buffer, k backend.Blur) error {
	return d.operate(func(b []*buffer) error {
		k, err := d.blurBetween(k, b[0], b[1])
		if err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		f := k.newFold(b[0])
		planes := b[0].shape.N * b[0].shape.C
		if k.method == backend.DirectBlur {
			d.convolveDirectly(planes, f.rows(), padded(b[1], k.spec.KH-1, k.spec.KW-1), mirrored(k.taps, k.spec.KH, k.spec.KW))
		} else if err := k.fourier.Apply(d.pool, planes, f.rows(), rowsFrom(b[1]), true); err != nil {
			return err
		}
		d.pool.For(planes, f.finish)
		return nil
	}, dst, src)
}

// blurBetween checks a blur of x that gives y.
func (d *Device) blurBetween(k backend.Blur, x, y *buffer) (*blur, error) {
	b, err := d.ownBlur(k)
	if err != nil {
		return nil, err
	}
	return b, devicekit.CheckBlur(b.spec, x.shape, y.shape)
}

// rowsFrom hands over the rows of a buffer, and rowsInto takes them.
func rowsFrom(b *buffer) fft.Rows {
	h, w := b.shape.H, b.shape.W
	return fft.Rows{H: h, W: w, Row: func(plane, y int, row []float32) { copy(row, b.data[(plane*h+y)*w:]) }}
}

func rowsInto(b *buffer) fft.Rows {
	h, w := b.shape.H, b.shape.W
	return fft.Rows{H: h, W: w, Row: func(plane, y int, row []float32) { copy(b.data[(plane*h+y)*w:], row) }}
}

// padded hands over the rows of a buffer with a frame of zeros around it.
func padded(b *buffer, top, left int) fft.Rows {
	h, w := b.shape.H, b.shape.W
	return fft.Rows{H: h + 2*top, W: w + 2*left, Row: func(plane, y int, row []float32) {
		if y -= top; y < 0 || y >= h {
			clear(row)
			return
		}
		clear(row[:left])
		copy(row[left:], b.data[(plane*h+y)*w:][:w])
		clear(row[left+w:])
	}}
}
