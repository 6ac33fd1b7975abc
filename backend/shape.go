package backend

import (
	"fmt"
	"math"
)

// Shape is the size of an array, batch outermost: element (n, c, y, x) is at offset ((n·C + c)·H + y)·W + x.
type Shape struct {
	N, C, H, W int
}

// Image is the shape of one image with c channels of h rows and w columns.
func Image(c, h, w int) Shape { return Shape{N: 1, C: c, H: h, W: w} }

// Vector is the shape of n numbers in one row, such as biases.
func Vector(n int) Shape { return Shape{N: 1, C: n, H: 1, W: 1} }

// Len returns the number of elements.
func (s Shape) Len() int { return s.N * s.C * s.H * s.W }

// Plane returns the number of elements of one channel.
func (s Shape) Plane() int { return s.H * s.W }

// Check returns an error that wraps ErrShape unless all extents are positive and
// the array's size in bytes fits an int.
func (s Shape) Check() error {
	n := 4
	for _, d := range [...]int{s.N, s.C, s.H, s.W} {
		if d <= 0 {
			return fmt.Errorf("%w: extent %d in %v", ErrShape, d, s)
		}
		if n > math.MaxInt/d {
			return fmt.Errorf("%w: %v is too large", ErrShape, s)
		}
		n *= d
	}
	return nil
}

func (s Shape) String() string { return fmt.Sprintf("%d×%d×%d×%d", s.N, s.C, s.H, s.W) }

// Region is a rectangle of an image: rows [Y0, Y1), columns [X0, X1).
type Region struct{ Y0, Y1, X0, X1 int }

// Whole is the region of all pixels of s.
func (s Shape) Whole() Region { return Region{Y1: s.H, X1: s.W} }

// Size returns the number of rows and of columns.
func (r Region) Size() (h, w int) { return r.Y1 - r.Y0, r.X1 - r.X0 }

// Reach returns the pixels of an image of shape s that a convolution reads to compute those in r to the bit,
// on a device with the given ConvolutionGrid: r grown to whole tiles of the grid, and by radius pixels more,
// inside the frame.
func (r Region) Reach(radius, grid int, s Shape) Region {
	up := func(v int) int { return (v + grid - 1) / grid * grid }
	return Region{
		max(0, r.Y0-r.Y0%grid-radius), min(s.H, up(r.Y1)+radius),
		max(0, r.X0-r.X0%grid-radius), min(s.W, up(r.X1)+radius),
	}
}

// Check returns an error that wraps ErrShape unless the region is not empty and
// lies inside an image of shape s.
func (r Region) Check(s Shape) error {
	if r.Y0 < 0 || r.X0 < 0 || r.Y0 >= r.Y1 || r.X0 >= r.X1 || r.Y1 > s.H || r.X1 > s.W {
		return fmt.Errorf("%w: region %v in %v", ErrShape, r, s)
	}
	return nil
}

// Halved returns the region that r has at half the rows and columns (Unshuffled by 2): a coarse pixel counts if one of its
// fine ones does.
func (r Region) Halved() Region {
	return Region{Y0: r.Y0 / 2, Y1: (r.Y1 + 1) / 2, X0: r.X0 / 2, X1: (r.X1 + 1) / 2}
}

func (r Region) String() string {
	return fmt.Sprintf("rows [%d,%d), columns [%d,%d)", r.Y0, r.Y1, r.X0, r.X1)
}
