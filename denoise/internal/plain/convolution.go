// Package plain computes the convolutions of networks in float64 by their definition, to
// estimate norms by and to compare devices with.
package plain

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
)

// Convolution is A by its definition (backend.Filter), in float64.
type Convolution struct {
	Shape   backend.Shape
	H, W    int // of the image
	Weights []float64
	Pool    *parallel.Pool
}

// Forward sets dst = Az.
func (c Convolution) Forward(dst, src []float64) {
	plane := c.H * c.W
	c.Pool.For(c.Shape.N, func(o int) {
		out := dst[o*plane:][:plane]
		clear(out)
		for i := range c.Shape.C {
			c.each(o, i, func(weight float64, dy, dx int) {
				c.shift(out, src[i*plane:][:plane], weight, dy, dx)
			})
		}
	})
}

// Adjoint sets dst = Aᵀu.
func (c Convolution) Adjoint(dst, src []float64) {
	plane := c.H * c.W
	c.Pool.For(c.Shape.C, func(i int) {
		out := dst[i*plane:][:plane]
		clear(out)
		for o := range c.Shape.N {
			c.each(o, i, func(weight float64, dy, dx int) {
				c.shift(out, src[o*plane:][:plane], weight, -dy, -dx)
			})
		}
	})
}

// each calls f for the weights between two channels that are not 0.
func (c Convolution) each(o, i int, f func(weight float64, dy, dx int)) {
	taps := c.Shape.H * c.Shape.W
	for j, v := range c.Weights[(o*c.Shape.C+i)*taps:][:taps] {
		if v != 0 {
			f(v, j/c.Shape.W-c.Shape.H/2, j%c.Shape.W-c.Shape.W/2)
		}
	}
}

// shift adds weight·src[y+dy, x+dx] to dst[y, x] wherever both lie in the image.
func (c Convolution) shift(dst, src []float64, weight float64, dy, dx int) {
	x0, x1 := max(0, -dx), min(c.W, c.W-dx)
	if x0 >= x1 {
		return
	}
	for y := max(0, -dy); y < min(c.H, c.H-dy); y++ {
		to := dst[y*c.W+x0 : y*c.W+x1]
		for i, v := range src[(y+dy)*c.W+x0+dx:][:len(to)] {
			to[i] += weight * v
		}
	}
}
