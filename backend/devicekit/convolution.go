package devicekit

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// filter is a filter of a device's, with its shape.
type filter[M, F any] struct {
	owned[M, F]
	shape backend.Shape
	own   F
}

// Shape implements backend.Filter.
func (f *filter[M, F]) Shape() backend.Shape { return f.shape }

// Free implements backend.Filter.
func (f *filter[M, F]) Free() { f.device.free(f.life) }

// filter returns the device's own filter behind f, or an empty one where something is wrong.
func (c *call[M, F]) filter(f backend.Filter) *filter[M, F] {
	own, ok := f.(*filter[M, F])
	switch {
	case c.err != nil:
	case !ok || own == nil:
		c.foreign("filter", f)
	case c.hold(&own.owned, "filter", own.shape):
		return own
	}
	return &filter[M, F]{}
}

// NewFilter implements backend.Convolutions.
func (d *Device[M, F]) NewFilter(w backend.Buffer) (backend.Filter, error) {
	c := d.begin()
	defer c.end()
	from := c.buffer(w)
	c.check(arguments.CheckFilter(from.shape))
	if c.err != nil {
		return nil, c.err
	}
	own, err := d.kernels.NewFilter(from.array())
	if err != nil {
		return nil, err
	}
	return &filter[M, F]{owned[M, F]{d, newLifetime(func() { d.kernels.FreeFilter(own) })}, from.shape, own}, nil
}

// UpdateFilter implements backend.Convolutions.
func (d *Device[M, F]) UpdateFilter(f backend.Filter, w backend.Buffer) error {
	c := d.begin()
	defer c.end()
	to, from := c.filter(f), c.buffer(w)
	c.check(arguments.CheckWeights(from.shape, to.shape))
	if c.err != nil {
		return c.err
	}
	return d.kernels.UpdateFilter(to.own, from.array())
}

// Convolve implements backend.Convolutions.
func (d *Device[M, F]) Convolve(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
	c := d.begin()
	defer c.end()
	c.check(end.Activation.Check())
	to, from, own := c.buffer(dst), c.buffer(src), c.filter(f)
	c.check(arguments.CheckConvolution(to.shape, from.shape, own.shape))
	bias, numbers := c.optional(end.Bias)
	if bias != nil {
		c.check(arguments.CheckBias(bias.shape, own.shape.N))
	}
	c.apart(to, from, bias)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Convolve(to.array(), from.array(), own.own, ConvEnd[M]{numbers, end.Activation})
}

// ConvolveAdjoint implements backend.Convolutions.
func (d *Device[M, F]) ConvolveAdjoint(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
	c := d.begin()
	defer c.end()
	to, from, own := c.adjoint(dst, src, f)
	if c.err != nil {
		return c.err
	}
	return d.kernels.ConvolveAdjoint(to.array(), from.array(), own.own, beta, scale)
}

func (c *call[M, F]) adjoint(dst, src backend.Buffer, f backend.Filter) (to, from *buffer[M, F], own *filter[M, F]) {
	to, from, own = c.buffer(dst), c.buffer(src), c.filter(f)
	c.check(arguments.CheckConvolutionAdjoint(to.shape, from.shape, own.shape))
	c.apart(to, from)
	return to, from, own
}

// AddAdjoint implements backend.Convolutions.
func (d *Device[M, F]) AddAdjoint(dst, start, src backend.Buffer, f backend.Filter, scale float32) error {
	c := d.begin()
	defer c.end()
	to, from, own := c.adjoint(dst, src, f)
	begin := c.buffer(start)
	c.sameShape(to, begin)
	c.apartOrSame(to, begin)
	if c.err != nil {
		return c.err
	}
	if to.same(begin) {
		return d.kernels.ConvolveAdjoint(to.array(), from.array(), own.own, 1, scale)
	}
	if k, ok := d.kernels.(AdjointSums[M, F]); ok {
		return k.AddAdjoint(to.array(), begin.array(), from.array(), own.own, scale)
	}
	if err := d.kernels.LinearCombination(to.array(), []Term[M]{{1, begin.array()}}); err != nil {
		return err
	}
	return d.kernels.ConvolveAdjoint(to.array(), from.array(), own.own, 1, scale)
}
