package denoise

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
)

// EstimateConvolutionNorm runs the given number of power iterations on AᵀA for the
// zero-padded convolution A of h×w images, in float64, and returns the last
// ‖Az‖/‖z‖. It is an estimate: a lower bound of ‖A‖ at that size, and so of
// NormBound.Upper, up to rounding. It proves nothing about how large ‖A‖ may be. Weights
// are as for ConvolutionNorm. The same arguments give the same bits.
func EstimateConvolutionNorm(w []float32, shape backend.Shape, h, width, iterations int) (float64, error) {
	if err := checkFilter(w, shape); err != nil {
		return 0, err
	}
	input := backend.Image(shape.C, h, width)
	if err := input.Check(); err != nil {
		return 0, err
	}
	if err := backend.Image(shape.N, h, width).Check(); err != nil {
		return 0, err
	}
	if iterations < 1 {
		return 0, fmt.Errorf("%d power iterations, must be at least 1", iterations)
	}
	pool := parallel.New(0)
	defer pool.Close()
	top := 0.0
	for _, v := range w {
		top = max(top, math.Abs(float64(v)))
	}
	if top == 0 {
		return 0, nil
	}
	exponent := math.Ilogb(top)
	c := plainConvolution{shape: shape, h: h, w: width, weights: make([]float64, len(w)), pool: pool}
	for i, v := range w {
		c.weights[i] = math.Ldexp(float64(v), -exponent)
	}
	z := make([]float64, input.Len())
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	az := make([]float64, shape.N*h*width)
	ratio := 0.0
	for range iterations {
		c.forward(az, z)
		size, image := euclidean(z), euclidean(az)
		if size == 0 || image == 0 {
			break // A is nilpotent on what is left of z: the last ratio stands
		}
		ratio = max(ratio, image/size)
		for i := range az {
			az[i] /= image
		}
		c.adjoint(z, az)
	}
	return math.Ldexp(ratio, exponent), nil
}

func euclidean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// plainConvolution is A by its definition (backend.Filter), in float64.
type plainConvolution struct {
	shape   backend.Shape
	h, w    int
	weights []float64
	pool    *parallel.Pool
}

func (c plainConvolution) forward(dst, src []float64) {
	plane := c.h * c.w
	c.pool.For(c.shape.N, func(o int) {
		out := dst[o*plane:][:plane]
		clear(out)
		for i := range c.shape.C {
			c.each(o, i, func(weight float64, dy, dx int) {
				c.shift(out, src[i*plane:][:plane], weight, dy, dx)
			})
		}
	})
}

func (c plainConvolution) adjoint(dst, src []float64) {
	plane := c.h * c.w
	c.pool.For(c.shape.C, func(i int) {
		out := dst[i*plane:][:plane]
		clear(out)
		for o := range c.shape.N {
			c.each(o, i, func(weight float64, dy, dx int) {
				c.shift(out, src[o*plane:][:plane], weight, -dy, -dx)
			})
		}
	})
}

// each calls f for the weights between two channels that are not 0.
func (c plainConvolution) each(o, i int, f func(weight float64, dy, dx int)) {
	taps := c.shape.H * c.shape.W
	for j, v := range c.weights[(o*c.shape.C+i)*taps:][:taps] {
		if v != 0 {
			f(v, j/c.shape.W-c.shape.H/2, j%c.shape.W-c.shape.W/2)
		}
	}
}

// shift adds weight·src[y+dy, x+dx] to dst[y, x] wherever both lie in the image.
func (c plainConvolution) shift(dst, src []float64, weight float64, dy, dx int) {
	x0, x1 := max(0, -dx), min(c.w, c.w-dx)
	if x0 >= x1 {
		return
	}
	for y := max(0, -dy); y < min(c.h, c.h-dy); y++ {
		to := dst[y*c.w+x0 : y*c.w+x1]
		addScaled(to, weight, src[(y+dy)*c.w+x0+dx:])
	}
}
