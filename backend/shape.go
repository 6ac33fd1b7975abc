package backend

import (
	"fmt"
	"math"
)

// Shape is the extent of an array, batch outermost: element (n, c, y, x) is at
// offset ((n·C + c)·H + y)·W + x.
type Shape struct {
	N, C, H, W int
}

// Image is the shape of one image with c channels of h rows and w columns.
func Image(c, h, w int) Shape { return Shape{N: 1, C: c, H: h, W: w} }

// Vector is the shape of n numbers in one row, as biases have.
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
