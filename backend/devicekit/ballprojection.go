package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckBalls returns an error that wraps ErrShape unless the shape of the radii is that of
// R groups of a shape's channels: a vector or a map.
func CheckBalls(s, radius backend.Shape) error {
	r := radius.Len()
	if radius != backend.Vector(r) {
		if r = radius.C; radius != (backend.Shape{N: s.N, C: r, H: s.H, W: s.W}) {
			return fmt.Errorf("%w: radii %v, neither a vector nor a map for %v", backend.ErrShape, radius, s)
		}
	}
	if r < 1 || s.C%r != 0 {
		return fmt.Errorf("%w: radii %v for groups of %d channels", backend.ErrShape, radius, s.C)
	}
	return nil
}

// ProjectBalls implements backend.BallProjections.
func (d *Device[M, F]) ProjectBalls(dst, src, radius backend.Buffer) error {
	c := d.begin()
	defer c.end()
	to, from, r := c.buffer(dst), c.buffer(src), c.buffer(radius)
	c.balls(to, from, r)
	if c.err != nil {
		return c.err
	}
	return d.kernels.ProjectBalls(to.array(), from.array(), r.array())
}

// ProjectBallsGradient implements backend.BallProjections.
func (d *Device[M, F]) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
	c := d.begin()
	defer c.end()
	to, sums, v, from, r := c.buffer(dst), c.buffer(dradius), c.buffer(src), c.buffer(dy), c.buffer(radius)
	c.balls(to, from, r)
	c.sameShape(to, v)
	c.apart(to, v, sums)
	c.sameShape(sums, r)
	c.apart(sums, v, from, r)
	k := c.gradients()
	if c.err != nil {
		return c.err
	}
	return k.ProjectBallsGradient(to.array(), sums.array(), v.array(), from.array(), r.array(), beta)
}

// balls checks a projection of from to to.
func (c *call[M, F]) balls(to, from, radius *buffer[M, F]) {
	c.sameShape(to, from)
	c.apartOrSame(to, from)
	if c.err == nil {
		c.err = CheckBalls(to.shape, radius.shape)
	}
	c.apart(to, radius)
}
