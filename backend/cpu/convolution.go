package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter holds a bank of weights as given, for A. Its adjoint has input and
// output exchanged and both axes reversed, which is Aᵀ written as a convolution
// (exactly, zero padding included: a tap that reaches outside the frame has no
// counterpart on either side).
type filter struct {
	device           *host
	shape            backend.Shape // Out, In, KH, KW
	forward, adjoint []float32     // adjoint is nil where Winograd's algorithm applies
	// forward3 and adjoint3 are the same for Winograd's algorithm, where it applies; forwardBank and adjointBank fill them.
	forward3, adjoint3 *bank
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

// bytes is the memory of the filter.
func (f *filter) bytes() int64 {
	n := 2 * f.shape.Len()
	if f.fast() {
		n = f.shape.Len() + winograd.FilterSize(f.shape.C, f.shape.N) + winograd.FilterSize(f.shape.N, f.shape.C)
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
	if f.adjoint == nil {
		return
	}
	s, taps := f.shape, f.shape.H*f.shape.W
	for o := range s.N {
		for i := range s.C {
			for k := range taps {
				f.adjoint[(i*s.N+o)*taps+taps-1-k] = w[(o*s.C+i)*taps+k]
			}
		}
	}
}

// NewFilter implements devicekit.Kernels.
func (d *host) NewFilter(w buffer) (*filter, error) {
	s := w.Shape
	f := &filter{device: d, shape: s}
	if err := d.take(f.bytes(), "a filter"); err != nil {
		return nil, err
	}
	f.forward = make([]float32, s.Len())
	if f.fast() {
		f.forward3, f.adjoint3 = &bank{in: s.C, out: s.N}, &bank{in: s.N, out: s.C}
	} else {
		f.adjoint = make([]float32, s.Len())
	}
	f.prepare(w.Data)
	return f, nil
}

// FreeFilter implements devicekit.Kernels. The memory goes back to Go's collector.
func (d *host) FreeFilter(f *filter) { d.used.Add(-f.bytes()) }

// UpdateFilter implements devicekit.Kernels.
func (d *host) UpdateFilter(f *filter, w buffer) error {
	f.prepare(w.Data)
	return nil
}

// Convolve implements devicekit.Kernels.
func (d *host) Convolve(dst, src buffer, f *filter, end devicekit.ConvEnd[[]float32]) error {
	e := ending{scale: 1}
	if end.Bias != nil {
		e.bias = end.Bias.Data
	}
	if end.Activation.Kind == backend.LeakyReLU {
		e.rectify, e.slope = true, end.Activation.Slope
	}
	if bank := f.forwardBank(); bank != nil {
		d.convolve3(&dst, &src, bank, e)
	} else {
		d.convolve(&dst, &src, f.forward, f.shape.H, f.shape.W, e)
	}
	return nil
}

// ConvolveAdjoint implements devicekit.Kernels.
func (d *host) ConvolveAdjoint(dst, src buffer, f *filter, beta, scale float32) error {
	e := ending{scale: scale, beta: beta}
	if bank := f.adjointBank(); bank != nil {
		d.convolve3(&dst, &src, bank, e)
	} else {
		d.convolve(&dst, &src, f.adjoint, f.shape.H, f.shape.W, e)
	}
	return nil
}
