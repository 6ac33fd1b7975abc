package devicekit

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

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
		c.err = arguments.CheckBalls(to.shape, radius.shape)
	}
	c.apart(to, radius)
}
