package normbound

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/averaged/imaging/internal/parallel"
)

// Estimate runs the given number of power iterations on AᵀA for the
// zero-padded convolution A of h×w images, in float64, and returns the last
// ‖Az‖/‖z‖. It is an estimate: a lower bound of ‖A‖ at that size, and so of
// Bound.Upper, up to rounding. It proves nothing about how large ‖A‖ may be. Weights
// are as for Prove. The same arguments give the same bits.
func Estimate(w []float32, shape backend.Shape, h, width, iterations int) (float64, error) {
	if err := CheckFilter(w, shape); err != nil {
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
	c := plain.Convolution{Shape: shape, H: h, W: width, Weights: make([]float64, len(w)), Pool: pool}
	for i, v := range w {
		c.Weights[i] = math.Ldexp(float64(v), -exponent)
	}
	z := make([]float64, input.Len())
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	az := make([]float64, shape.N*h*width)
	ratio := 0.0
	for range iterations {
		c.Forward(az, z)
		size, image := euclidean(z), euclidean(az)
		if size == 0 || image == 0 {
			break // A is nilpotent on what is left of z: the last ratio stands
		}
		ratio = max(ratio, image/size)
		for i := range az {
			az[i] /= image
		}
		c.Adjoint(z, az)
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
