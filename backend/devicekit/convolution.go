package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckFilter returns an error that wraps ErrShape unless weights of shape w, (Out, In, KH,
// KW), make a filter: KH and KW are odd.
func CheckFilter(w backend.Shape) error {
	if w.H%2 == 0 || w.W%2 == 0 {
		return fmt.Errorf("%w: filter %v, height and width must be odd", backend.ErrShape, w)
	}
	return nil
}

// CheckWeights returns an error that wraps ErrShape unless the new weights w of a filter
// have its shape.
func CheckWeights(w, filter backend.Shape) error {
	if w != filter {
		return fmt.Errorf("%w: weights %v for a filter %v", backend.ErrShape, w, filter)
	}
	return nil
}

// CheckConvolution returns an error that wraps ErrShape unless a filter of shape (Out, In,
// KH, KW) leads from src to dst: from In channels to Out channels, and all else is the same.
func CheckConvolution(dst, src, filter backend.Shape) error {
	return checkLayer(dst, src, filter.N, filter.C)
}

// CheckConvolutionAdjoint is CheckConvolution of Aᵀ, from Out channels to In channels.
func CheckConvolutionAdjoint(dst, src, filter backend.Shape) error {
	return checkLayer(dst, src, filter.C, filter.N)
}

func checkLayer(dst, src backend.Shape, out, in int) error {
	if dst.N != src.N || dst.H != src.H || dst.W != src.W || dst.C != out || src.C != in {
		return fmt.Errorf("%w: a filter of %d to %d channels from %v to %v", backend.ErrShape, in, out, src, dst)
	}
	return nil
}

// CheckBias returns an error that wraps ErrShape unless a bias has one number for each of
// so many channels.
func CheckBias(bias backend.Shape, channels int) error {
	if bias.Len() != channels {
		return fmt.Errorf("%w: bias %v for %d channels", backend.ErrShape, bias, channels)
	}
	return nil
}

// CheckFilterGradient returns an error that wraps ErrShape unless dw is the shape of a
// filter, of odd height and width, that leads from x to dy.
func CheckFilterGradient(dw, x, dy backend.Shape) error {
	if dw.H%2 == 0 || dw.W%2 == 0 {
		return fmt.Errorf("%w: filter gradient %v, height and width must be odd", backend.ErrShape, dw)
	}
	return CheckConvolution(dy, x, dw)
}

// CheckBiasGradient returns an error that wraps ErrShape unless db has one number for each
// channel of dy.
func CheckBiasGradient(db, dy backend.Shape) error {
	if db.Len() != dy.C {
		return fmt.Errorf("%w: bias gradient %v for %d channels", backend.ErrShape, db, dy.C)
	}
	return nil
}

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
	c.check(CheckFilter(from.shape))
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
	c.check(CheckWeights(from.shape, to.shape))
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
	c.check(CheckConvolution(to.shape, from.shape, own.shape))
	bias, numbers := c.optional(end.Bias)
	if bias != nil {
		c.check(CheckBias(bias.shape, own.shape.N))
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
	c.check(CheckConvolutionAdjoint(to.shape, from.shape, own.shape))
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
