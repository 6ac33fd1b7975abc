package refdevice

import (
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter holds the weights as they came, (Out, In, KH, KW).
type filter struct {
	device *Device
	shape  backend.Shape
	w      []float64
	freed  bool
}

// Shape implements backend.Filter.
func (f *filter) Shape() backend.Shape { return f.shape }

// Free implements backend.Filter.
func (f *filter) Free() {
	f.device.mu.Lock()
	defer f.device.mu.Unlock()
	f.freed = true
}

func (c *call) filter(b backend.Filter) *filter {
	own, ok := b.(*filter)
	c.require(ok && own != nil && own.device == c.device, backend.ErrForeign, "filter of type %T", b)
	if c.err == nil {
		c.require(!own.freed, backend.ErrFreed, "filter of %v", own.shape)
	}
	if c.err != nil {
		return &filter{}
	}
	return own
}

// taps calls f for every weight k: it leads from input channel i, shifted by
// (dy, dx), to output channel o.
func taps(s backend.Shape, f func(k, o, i, dy, dx int)) {
	for k := range s.Len() {
		r, c := k/s.W%s.H, k%s.W
		f(k, k/(s.C*s.H*s.W), k/(s.H*s.W)%s.C, r-s.H/2, c-s.W/2)
	}
}

// NewFilter implements backend.Convolutions.
func (d *Device) NewFilter(w backend.Buffer) (backend.Filter, error) {
	c := d.begin("NewFilter")
	from := c.buffer(w)
	c.check(devicekit.CheckFilter(from.shape))
	if c.err != nil {
		return nil, c.refuse()
	}
	f := &filter{device: d, shape: from.shape, w: make([]float64, from.shape.Len())}
	return f, c.queue(func() { copy(f.w, from.data) })
}

// UpdateFilter implements backend.Convolutions.
func (d *Device) UpdateFilter(f backend.Filter, w backend.Buffer) error {
	c := d.begin("UpdateFilter")
	to, from := c.filter(f), c.buffer(w)
	c.check(devicekit.CheckWeights(from.shape, to.shape))
	return c.queue(func() { copy(to.w, from.data) })
}

// Convolve implements backend.Convolutions.
func (d *Device) Convolve(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
	c := d.begin("Convolve")
	to, from, own := c.buffer(dst), c.buffer(src), c.filter(f)
	c.check(devicekit.CheckConvolution(to.shape, from.shape, own.shape))
	c.apart(to, from)
	bias := &buffer{}
	if end.Bias != nil {
		bias = c.buffer(end.Bias)
		c.check(devicekit.CheckBias(bias.shape, own.shape.N))
		c.apart(to, bias)
	}
	c.check(end.Activation.Check())
	return c.queue(func() {
		s := from.shape
		clear(to.data)
		for n := range s.N {
			for o, b := range bias.data {
				for i := range to.plane(n, o) {
					to.plane(n, o)[i] = b
				}
			}
			taps(own.shape, func(k, o, i, dy, dx int) {
				shift{s.H, s.W, dy, dx}.gather(to.plane(n, o), own.w[k], from.plane(n, i))
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

// ConvolveAdjoint implements backend.Convolutions.
func (d *Device) ConvolveAdjoint(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
	c := d.begin("ConvolveAdjoint")
	to, from, own := c.buffer(dst), c.buffer(src), c.filter(f)
	c.check(devicekit.CheckConvolutionAdjoint(to.shape, from.shape, own.shape))
	c.apart(to, from)
	return c.queue(func() {
		s := to.shape
		begin(to.data, beta)
		for n := range s.N {
			taps(own.shape, func(k, o, i, dy, dx int) {
				shift{s.H, s.W, dy, dx}.scatter(to.plane(n, i), float64(scale)*own.w[k], from.plane(n, o))
			})
		}
	})
}

// ConvolutionGrid implements backend.Convolutions: every pixel is computed by
// itself.
func (d *Device) ConvolutionGrid() int { return 1 }

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

// FilterGradient implements backend.Gradients.
func (d *Device) FilterGradient(dw, x, dy backend.Buffer, beta, scale float32) error {
	c := d.begin("FilterGradient")
	to, in, out := c.buffer(dw), c.buffer(x), c.buffer(dy)
	c.check(devicekit.CheckFilterGradient(to.shape, in.shape, out.shape))
	c.apart(to, in, out)
	return c.queue(func() {
		begin(to.data, beta)
		taps(to.shape, func(k, o, i, dy, dx int) {
			for n := range in.shape.N {
				to.data[k] += float64(scale) * shift{in.shape.H, in.shape.W, dy, dx}.product(out.plane(n, o), in.plane(n, i))
			}
		})
	})
}

// BiasGradient implements backend.Gradients.
func (d *Device) BiasGradient(db, dy backend.Buffer, beta float32) error {
	c := d.begin("BiasGradient")
	to, from := c.buffer(db), c.buffer(dy)
	c.check(devicekit.CheckBiasGradient(to.shape, from.shape))
	c.apart(to, from)
	return c.queue(func() {
		begin(to.data, beta)
		for i, v := range from.data {
			to.data[i/from.shape.Plane()%from.shape.C] += v
		}
	})
}

// ActivationGradient implements backend.Gradients.
func (d *Device) ActivationGradient(dst, out, dy backend.Buffer, a backend.Activation) error {
	c := d.begin("ActivationGradient")
	to, o, from := c.buffer(dst), c.buffer(out), c.buffer(dy)
	c.check(devicekit.CheckSameShape(to, o, from))
	c.apart(to, o)
	c.apartOrSame(to, from)
	c.check(a.Check())
	return c.queue(func() {
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
