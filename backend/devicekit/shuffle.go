package devicekit

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Unshuffle implements backend.Shuffles.
func (d *Device[M, F]) Unshuffle(dst, src backend.Buffer, factor int) error {
	c := d.begin()
	defer c.end()
	coarse, fine := c.buffer(dst), c.buffer(src)
	c.shuffle(fine, coarse, factor)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Unshuffle(coarse.array(), fine.array(), factor)
}

// Shuffle implements backend.Shuffles.
func (d *Device[M, F]) Shuffle(dst, src backend.Buffer, factor int) error {
	c := d.begin()
	defer c.end()
	fine, coarse := c.buffer(dst), c.buffer(src)
	c.shuffle(fine, coarse, factor)
	if c.err != nil {
		return c.err
	}
	return d.kernels.Shuffle(fine.array(), coarse.array(), factor)
}

func (c *call[M, F]) shuffle(fine, coarse *buffer[M, F], factor int) {
	c.check(arguments.CheckShuffle(fine.shape, coarse.shape, factor))
	c.apart(fine, coarse)
}
