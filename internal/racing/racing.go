// Package racing has what the races against other programs share: how they time, what they
// count, and the files that their networks and pictures are in.
package racing

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/weights"
)

// The files of a race's folder, and the tensors of the second.
const (
	NetworkFile  = "network.safetensors"
	PicturesFile = "pictures.safetensors"
	InputName    = "input"
	OutputName   = "output"
)

// Time makes a pass warmUp times and then, timed, repetitions times, at least once, and
// returns the median and the smallest of the times in milliseconds.
func Time(warmUp, repetitions int, pass func() error) (median, least float64, err error) {
	var milliseconds []float64
	for i := range warmUp + repetitions {
		begin := time.Now()
		if err := pass(); err != nil {
			return 0, 0, err
		}
		if elapsed := time.Since(begin); i >= warmUp {
			milliseconds = append(milliseconds, elapsed.Seconds()*1e3)
		}
	}
	return Median(milliseconds), slices.Min(milliseconds), nil
}

// Median returns the median of at least one number, in any order.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// Operations returns the multiplications and additions of direct convolution that a
// network takes for the pictures of a shape: A and Aᵀ in every block.
func Operations(a weights.Architecture, s backend.Shape) float64 {
	perPixel := 2 * 2 * a.Blocks * a.Kernel * a.Kernel * a.Width * a.Width
	return float64(perPixel) * float64(s.N) * float64(s.Plane())
}

// Difference returns the largest |x−y| of slices of the same length, and NaN where one of
// them has a NaN.
func Difference(x, y []float32) float64 {
	d := 0.0
	for i := range x {
		d = max(d, math.Abs(float64(x[i])-float64(y[i])))
	}
	return d
}

// Tensor returns a tensor of four extents: pictures, or the weights of a filter.
func Tensor(f *weights.File, name string) (backend.Shape, []float32, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return backend.Shape{}, nil, err
	}
	if len(t.Shape) != 4 {
		return backend.Shape{}, nil, fmt.Errorf("tensor %q has the shape %v, must have four extents", name, t.Shape)
	}
	x, err := t.Float32s()
	return backend.Shape{N: t.Shape[0], C: t.Shape[1], H: t.Shape[2], W: t.Shape[3]}, x, err
}
