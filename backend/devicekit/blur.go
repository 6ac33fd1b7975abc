package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// blur is a blur of a device's.
type blur[M, F any] struct {
	owned[M, F]
	spec backend.BlurSpec
	own  Blur[M]
}

// Spec implements backend.Blur; it is a copy.
func (b *blur[M, F]) Spec() backend.BlurSpec {
	return b.spec.Clone()
}

// Method implements backend.Blur.
func (b *blur[M, F]) Method() backend.BlurMethod { return b.own.Method() }

// Free implements backend.Blur.
func (b *blur[M, F]) Free() { b.device.free(b.life) }

// blur returns the device's own blur behind b, or an empty one where something is wrong.
func (c *call[M, F]) blur(b backend.Blur) *blur[M, F] {
	own, ok := b.(*blur[M, F])
	switch {
	case c.err != nil:
	case !ok || own == nil:
		c.foreign("blur", b)
	case c.hold(&own.owned, "blur", fmt.Sprintf("of %d×%d", own.spec.KH, own.spec.KW)):
		return own
	}
	return &blur[M, F]{}
}

// NewBlur implements backend.Blurring.
func (d *Device[M, F]) NewBlur(spec backend.BlurSpec) (backend.Blur, error) {
	c := d.begin()
	defer c.end()
	c.check(spec.Check())
	if c.err != nil {
		return nil, c.err
	}
	spec = spec.Clone()
	prepare := d.newHostBlur
	if k, ok := d.kernels.(Blurs[M]); ok {
		some, ok := d.kernels.(SomeBlurs)
		if ok && some.MakesBlur(spec) || !ok && !spec.Varies() {
			prepare = k.NewBlur
		}
	}
	own, err := prepare(spec)
	if err != nil {
		return nil, err
	}
	return &blur[M, F]{owned[M, F]{d, newLifetime(own.Free)}, spec, own}, nil
}

// PreparedBlur returns what kernels have made of a device's blur, as Operand does for a buffer.
func PreparedBlur[M, F any](d *Device[M, F], b backend.Blur) (Blur[M], error) {
	c := d.begin()
	defer c.end()
	own := c.blur(b)
	return own.own, c.err
}

// ApplyBlur implements backend.Blurring.
func (d *Device[M, F]) ApplyBlur(dst, src backend.Buffer, k backend.Blur) error {
	c := d.begin()
	defer c.end()
	to, from, own := c.buffer(dst), c.buffer(src), c.blur(k)
	c.check(arguments.CheckBlur(own.spec, from.shape, to.shape))
	c.apart(to, from)
	if c.err != nil {
		return c.err
	}
	return own.own.Apply(to.array(), from.array())
}

// ApplyBlurAdjoint implements backend.Blurring.
func (d *Device[M, F]) ApplyBlurAdjoint(dst, src backend.Buffer, k backend.Blur) error {
	c := d.begin()
	defer c.end()
	to, from, own := c.buffer(dst), c.buffer(src), c.blur(k)
	c.check(arguments.CheckBlur(own.spec, to.shape, from.shape))
	c.apart(to, from)
	if c.err != nil {
		return c.err
	}
	return own.own.ApplyAdjoint(to.array(), from.array())
}
