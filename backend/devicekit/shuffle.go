package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckShuffle returns an error that wraps ErrArgument unless the factor is at least 1,
// and one that wraps ErrShape unless the coarse shape belongs to the fine one.
func CheckShuffle(fine, coarse backend.Shape, factor int) error {
	if factor < 1 {
		return fmt.Errorf("%w: pixels shuffled by a factor of %d", backend.ErrArgument, factor)
	}
	if fine.Unshuffled(factor) != coarse {
		return fmt.Errorf("%w: an image %v shuffled by %d into %v", backend.ErrShape, fine, factor, coarse)
	}
	return nil
}

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
	c.check(CheckShuffle(fine.shape, coarse.shape, factor))
	c.apart(fine, coarse)
}
