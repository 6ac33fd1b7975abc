package refdevice

import (
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter holds the weights as they came, (Out, In, KH, KW).
type filter struct {
	shape backend.Shape
	w     []float64
}

// taps calls f for every weight k: it leads from input channel i, shifted by
// (dy, dx), to output channel o.
func taps(s backend.Shape, f func(k, o, i, dy, dx int)) {
	for k := range s.Len() {
		r, c := k/s.W%s.H, k%s.W
		f(k, k/(s.C*s.H*s.W), k/(s.H*s.W)%s.C, r-s.H/2, c-s.W/2)
	}
}

// NewFilter implements devicekit.Kernels.
func (d *stream) NewFilter(w array) (*filter, error) {
	f := &filter{shape: w.Shape, w: make([]float64, w.Shape.Len())}
	return f, d.queue("NewFilter", func() { copy(f.w, w.Data) })
}

// UpdateFilter implements devicekit.Kernels.
func (d *stream) UpdateFilter(f *filter, w array) error {
	return d.queue("UpdateFilter", func() { copy(f.w, w.Data) })
}

// FreeFilter implements devicekit.Kernels.
func (d *stream) FreeFilter(*filter) {}

// Convolve implements devicekit.Kernels.
func (d *stream) Convolve(dst, src array, f *filter, end devicekit.ConvEnd[[]float64]) error {
	to, from, bias := own(dst), own(src), ownOrEmpty(end.Bias)
	return d.queue("Convolve", func() {
		s := from.shape
		clear(to.data)
		for n := range s.N {
			for o, b := range bias.data {
				for i := range to.plane(n, o) {
					to.plane(n, o)[i] = b
				}
			}
			taps(f.shape, func(k, o, i, dy, dx int) {
				shift{s.H, s.W, dy, dx}.gather(to.plane(n, o), f.w[k], from.plane(n, i))
			})
		}
		if end.Activation.Kind == backend.LeakyReLU {
			for i, v := range to.data {
				if v < 0 {
					to.data[i] = float64(end.Activation.Slope) * v
				}
			}
		}
	})
}

// ConvolveAdjoint implements devicekit.Kernels.
func (d *stream) ConvolveAdjoint(dst, src array, f *filter, beta, scale float32) error {
	to, from := own(dst), own(src)
	return d.queue("ConvolveAdjoint", func() {
		s := to.shape
		begin(to.data, beta)
		for n := range s.N {
			taps(f.shape, func(k, o, i, dy, dx int) {
				shift{s.H, s.W, dy, dx}.scatter(to.plane(n, i), float64(scale)*f.w[k], from.plane(n, o))
			})
		}
	})
}

// ConvolutionGrid implements devicekit.Kernels: every pixel is computed by
// itself.
func (d *stream) ConvolutionGrid() int { return 1 }

// begin multiplies by beta what a sum is added to; with beta = 0 it is not read.
func begin(x []float64, beta float32) {
	if beta == 0 {
		clear(x)
		return
	}
	for i := range x {
		x[i] *= float64(beta)
	}
}

// FilterGradient implements devicekit.Gradients.
func (d *stream) FilterGradient(dw, x, dy array, beta, scale float32) error {
	to, in, out := own(dw), own(x), own(dy)
	return d.queue("FilterGradient", func() {
		begin(to.data, beta)
		taps(to.shape, func(k, o, i, dy, dx int) {
			for n := range in.shape.N {
				to.data[k] += float64(scale) * shift{in.shape.H, in.shape.W, dy, dx}.product(out.plane(n, o), in.plane(n, i))
			}
		})
	})
}

// BiasGradient implements devicekit.Gradients.
func (d *stream) BiasGradient(db, dy array, beta float32) error {
	to, from := own(db), own(dy)
	return d.queue("BiasGradient", func() {
		begin(to.data, beta)
		for i, v := range from.data {
			to.data[i/from.shape.Plane()%from.shape.C] += v
		}
	})
}

// ActivationGradient implements devicekit.Gradients.
func (d *stream) ActivationGradient(dst, out, dy array, a backend.Activation) error {
	to, o, from := own(dst), own(out), own(dy)
	return d.queue("ActivationGradient", func() {
		slopes := slices.Repeat([]float64{1}, len(o.data))
		for i, v := range o.data {
			if a.Kind == backend.LeakyReLU && !(v > 0) {
				slopes[i] = float64(a.Slope)
			}
		}
		for i, v := range from.data {
			to.data[i] = v * slopes[i]
		}
	})
}
