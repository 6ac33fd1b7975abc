package devicekit

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fallback"
)

// Fill implements backend.Vectors.
func (d *Device[M, F]) Fill(dst backend.Buffer, v float32) error {
	c := d.begin()
	defer c.end()
	to := c.buffer(dst)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Fill(to.array(), v)
}

// LinearCombination implements backend.Vectors.
func (d *Device[M, F]) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	c := d.begin()
	defer c.end()
	c.check(arguments.CheckTerms(len(terms)))
	to := c.buffer(dst)
	own := make([]Term[M], 0, backend.MaxTerms)
	for _, t := range terms {
		x := c.buffer(t.X)
		c.sameShape(to, x)
		c.apartOrSame(to, x)
		if c.err != nil {
			return c.err
		}
		own = append(own, Term[M]{t.A, x.array()})
	}
	if c.err != nil {
		return c.err
	}
	return d.kernels.LinearCombination(to.array(), own)
}

// Multiply implements backend.Vectors.
func (d *Device[M, F]) Multiply(dst, x, y backend.Buffer) error {
	c := d.begin()
	defer c.end()
	to, first, second := c.buffer(dst), c.buffer(x), c.buffer(y)
	c.sameShape(to, first, second)
	c.apartOrSame(to, first, second)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Multiply(to.array(), first.array(), second.array())
}

// Clip implements backend.Vectors.
func (d *Device[M, F]) Clip(dst, src backend.Buffer, lo, hi float32) error {
	c := d.begin()
	defer c.end()
	c.check(arguments.CheckClip(lo, hi))
	to, from := c.buffer(dst), c.buffer(src)
	c.sameShape(to, from)
	c.apartOrSame(to, from)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Clip(to.array(), from.array(), lo, hi)
}

// MixChannels implements backend.Vectors.
func (d *Device[M, F]) MixChannels(dst, src backend.Buffer, m []float32) error {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	c.check(arguments.CheckMixing(to.shape, from.shape, m))
	c.apartOrSame(to, from)
	if c.err != nil {
		return c.err
	}
	if k, ok := d.kernels.(Mixings[M]); ok {
		return k.MixChannels(to.array(), from.array(), m)
	}
	numbers := make([]float32, from.shape.Len())
	if err := d.kernels.Download(numbers, from.array()); err != nil {
		return err
	}
	return d.kernels.Upload(to.array(), fallback.MixChannels(to.shape, from.shape, numbers, m))
}

// Reduce implements backend.Vectors.
func (d *Device[M, F]) Reduce(out []float64, rs ...backend.Reduction) error {
	c := d.begin()
	defer c.end()
	c.check(arguments.CheckReductions(out, rs))
	own := make([]Reduction[M], 0, len(rs))
	for _, r := range rs {
		x := c.buffer(r.X)
		y := x
		if r.Kind != backend.SumSquares {
			y = c.buffer(r.Y)
		}
		c.sameShape(x, y)
		own = append(own, Reduction[M]{r.Kind, x.array(), y.array()})
	}
	if c.err != nil || len(rs) == 0 {
		return c.err
	}
	return d.kernels.Reduce(out, own)
}

// Gaussian implements backend.Vectors.
func (d *Device[M, F]) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	c := d.begin()
	defer c.end()
	c.check(arguments.CheckGaussian(mean, std))
	to := c.buffer(dst)
	if c.err != nil {
		return c.err
	}
	if k, ok := d.kernels.(Gaussians[M]); ok {
		return k.Gaussian(to.array(), seed, mean, std)
	}
	return d.kernels.Upload(to.array(), fallback.Gaussian(to.shape.Len(), seed, mean, std))
}
