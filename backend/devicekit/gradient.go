package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// gradients returns the kernels that training needs.
func (c *call[M, F]) gradients() Gradients[M] {
	k, ok := c.device.kernels.(Gradients[M])
	if !ok {
		c.check(fmt.Errorf("%w: gradients on device %s", backend.ErrUnsupported, c.name()))
	}
	return k
}

// FilterGradient implements backend.Gradients.
func (d *Device[M, F]) FilterGradient(dw, x, dy backend.Buffer, beta, scale float32) error {
	c := d.begin()
	defer c.end()
	to, in, out := c.buffer(dw), c.buffer(x), c.buffer(dy)
	c.check(arguments.CheckFilterGradient(to.shape, in.shape, out.shape))
	c.apart(to, in, out)
	k := c.gradients()
	if c.err != nil {
		return c.err
	}
	return k.FilterGradient(to.array(), in.array(), out.array(), beta, scale)
}

// BiasGradient implements backend.Gradients.
func (d *Device[M, F]) BiasGradient(db, dy backend.Buffer, beta float32) error {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(db), c.buffer(dy)
	c.check(arguments.CheckBiasGradient(to.shape, from.shape))
	c.apart(to, from)
	k := c.gradients()
	if c.err != nil {
		return c.err
	}
	return k.BiasGradient(to.array(), from.array(), beta)
}

// ActivationGradient implements backend.Gradients.
func (d *Device[M, F]) ActivationGradient(dst, out, dy backend.Buffer, a backend.Activation) error {
	c := d.begin()
	defer c.end()
	c.check(a.Check())
	to, at, from := c.buffer(dst), c.buffer(out), c.buffer(dy)
	c.sameShape(to, at, from)
	c.apart(to, at)
	c.apartOrSame(to, from)
	k := c.gradients()
	if c.err != nil {
		return c.err
	}
	return k.ActivationGradient(to.array(), at.array(), from.array(), a)
}
