package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter holds a bank of weights twice: as given, for A, and with input and
// output exchanged and both axes reversed, which is Aᵀ written as a convolution
// (exactly, zero padding included: a tap that reaches outside the frame has no
// counterpart on either side).
type filter struct {
	device           *Device
	shape            backend.Shape // Out, In, KH, KW
	forward, adjoint []float32
	// forward3 and adjoint3 are the same for Winograd's algorithm, where it applies; forwardBank and adjointBank fill them.
	forward3, adjoint3 *bank
	freed              atomic.Bool
}

// forwardBank returns the filter for Winograd's algorithm; nil where that does not apply.
func (f *filter) forwardBank() *bank {
	return f.forward3.filled(f.device, func(k *winograd.Kernels, i int, memory *winograd.FilterScratch) {
		k.TransformFilter(f.forward3.u, f.forward, f.shape.N, f.shape.C, i, memory)
	})
}

// adjointBank returns the adjoint filter for Winograd's algorithm; nil where that does not apply.
func (f *filter) adjointBank() *bank {
	return f.adjoint3.filled(f.device, func(k *winograd.Kernels, o int, memory *winograd.FilterScratch) {
		k.TransformAdjoint(f.adjoint3.u, f.forward, f.shape.C, f.shape.N, o, memory)
	})
}

// Shape implements backend.Filter.
func (f *filter) Shape() backend.Shape { return f.shape }

// Free implements backend.Filter.
func (f *filter) Free() {
	if f.freed.Swap(true) {
		return
	}
	f.device.used.Add(-f.bytes())
	f.forward, f.adjoint, f.forward3, f.adjoint3 = nil, nil, nil, nil
}

// bytes is the memory of the filter.
func (f *filter) bytes() int64 {
	n := 2 * f.shape.Len()
	if f.fast() {
		n += winograd.FilterSize(f.shape.C, f.shape.N) + winograd.FilterSize(f.shape.N, f.shape.C)
	}
	return int64(n) * 4
}

// fast tells whether Winograd's algorithm applies.
func (f *filter) fast() bool { return winogradApplies(f.shape) }

// winogradApplies tells whether Winograd's algorithm applies to a filter, and pays: its
// kernels have a vector's worth of channels at least. It looks at the filter only, so
// that an image has the same bits at any size.
func winogradApplies(filter backend.Shape) bool {
	return filter.H == 3 && filter.W == 3 && max(filter.N, filter.C) >= winograd.Block
}

func (f *filter) prepare(w []float32) {
	copy(f.forward, w)
	f.forward3.empty()
	f.adjoint3.empty()
	s, taps := f.shape, f.shape.H*f.shape.W
	for o := range s.N {
		for i := range s.C {
			for k := range taps {
				f.adjoint[(i*s.N+o)*taps+taps-1-k] = w[(o*s.C+i)*taps+k]
			}
		}
	}
}

// NewFilter implements backend.Convolutions.
func (d *Device) NewFilter(w backend.Buffer) (backend.Filter, error) {
	var f *filter
	err := d.operate(func(b []*buffer) error {
		s := b[0].shape
		if err := devicekit.CheckFilter(s); err != nil {
			return err
		}
		f = &filter{device: d, shape: s}
		bytes := f.bytes()
		if used := d.used.Add(bytes); d.limit > 0 && used > d.limit {
			d.used.Add(-bytes)
			return fmt.Errorf("%w: %d bytes for a filter", backend.ErrOutOfMemory, bytes)
		}
		f.forward, f.adjoint = make([]float32, s.Len()), make([]float32, s.Len())
		if f.fast() {
			f.forward3, f.adjoint3 = newBank(s.C, s.N), newBank(s.N, s.C)
		}
		f.prepare(b[0].data)
		return nil
	}, w)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// UpdateFilter implements backend.Convolutions.
func (d *Device) UpdateFilter(bf backend.Filter, w backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		f, err := d.ownFilter(bf)
		if err != nil {
			return err
		}
		if err := devicekit.CheckWeights(b[0].shape, f.shape); err != nil {
			return err
		}
		f.prepare(b[0].data)
		return nil
	}, w)
}

func (d *Device) ownFilter(bf backend.Filter) (*filter, error) {
	f, ok := bf.(*filter)
	if !ok || f == nil || f.device != d {
		return nil, fmt.Errorf("%w: filter of type %T", backend.ErrForeign, bf)
	}
	if f.freed.Load() {
		return nil, fmt.Errorf("%w: filter %v", backend.ErrFreed, f.shape)
	}
	return f, nil
}

// Convolve implements backend.Convolutions.
func (d *Device) Convolve(dst, src backend.Buffer, bf backend.Filter, end backend.ConvEnd) error {
	if err := end.Activation.Check(); err != nil {
		return err
	}
	buffers := []backend.Buffer{dst, src}
	if end.Bias != nil {
		buffers = append(buffers, end.Bias)
	}
	return d.operate(func(b []*buffer) error {
		f, err := d.ownFilter(bf)
		if err != nil {
			return err
		}
		if err := devicekit.CheckConvolution(b[0].shape, b[1].shape, f.shape); err != nil {
			return err
		}
		if err := apart(b[0], b[1:]...); err != nil {
			return err
		}
		e := ending{scale: 1}
		if end.Bias != nil {
			if err := devicekit.CheckBias(b[2].shape, f.shape.N); err != nil {
				return err
			}
			e.bias = b[2].data
		}
		if end.Activation.Kind == backend.LeakyReLU {
			e.rectify, e.slope = true, end.Activation.Slope
		}
		if bank := f.forwardBank(); bank != nil {
			d.convolve3(b[0], b[1], bank, e)
		} else {
			d.convolve(b[0], b[1], f.forward, f.shape.H, f.shape.W, e)
		}
		return nil
	}, buffers...)
}

// ConvolveAdjoint implements backend.Convolutions.
func (d *Device) ConvolveAdjoint(dst, src backend.Buffer, bf backend.Filter, beta, scale float32) error {
	return d.operate(func(b []*buffer) error {
		f, err := d.ownFilter(bf)
		if err != nil {
			return err
		}
		if err := devicekit.CheckConvolutionAdjoint(b[0].shape, b[1].shape, f.shape); err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		e := ending{scale: scale, beta: beta}
		if bank := f.adjointBank(); bank != nil {
			d.convolve3(b[0], b[1], bank, e)
		} else {
			d.convolve(b[0], b[1], f.adjoint, f.shape.H, f.shape.W, e)
		}
		return nil
	}, dst, src)
}
