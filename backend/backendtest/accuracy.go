package backendtest

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Limits of the normalised mean squared error. One rounding to float32 has a
// relative error of at most 2⁻²⁴ and a mean square of about 1e-15.
const (
	// exact: equal to the bit; NaN equals NaN, whatever its payload.
	exact = 0
	// elementwise: a handful of roundings, 1e-14, with room for the cancellation
	// of a few terms in arrays of one element.
	elementwise = 1e-12
	// directSum: a few hundred float32 products in any order; a random walk of
	// 576 roundings is 5e-7 of the root mean square. TF32 and half precision
	// (1e-7 and worse) are outside.
	directSum = 1e-11
	// projection: a Euclidean norm of up to 64 numbers, squared and added in any order,
	// whose relative error is at most 33 roundings and as a random walk 4; root, maximum,
	// quotient and product make at most 4 more: (8·2⁻²⁴)² is 2e-13, and that of the worst
	// order with all roundings one way 5e-12, which no data here come near. Approximate
	// reciprocals and roots of 14 bits and less (4e-9) are outside.
	projection = 1e-12
	// convolution: Winograd F(6×6,3×3) with the points 0, ±1, ±2, ±1/2, ∞ is
	// inside, TF32 and half precision are outside. Its transforms mix samples that
	// cancel again: with 64 channels of random weights it has 1.2e-11 where
	// F(4×4,3×3) has 3e-12 and a direct sum 1e-13, and at most 2e-11 in the cases of
	// this suite.
	convolution = 1e-10
	// fourierSum: a float32 FFT and its inverse, whose error grows with the
	// logarithm of the size and is spread over the whole plane.
	fourierSum = 1e-11
)

// Limit of numbers, relative to the sum of the absolute values of the summands.
// Products and sums are in float64, up to a million in any order.
const float64Sum = 1e-12

// number is a reference value, with the sum of the absolute values of what was
// added up to make it.
type number struct{ value, scale float64 }

// checkNumbers compares returned numbers with reference values.
func checkNumbers(got []float64, want []number, limit float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, want %d", len(got), len(want))
	}
	for i, w := range want {
		if math.IsNaN(w.value) {
			if !math.IsNaN(got[i]) {
				return fmt.Errorf("number %d is %v, want NaN", i, got[i])
			}
			continue
		}
		if !(math.Abs(got[i]-w.value) <= limit*w.scale) {
			return fmt.Errorf("number %d is %v, want %v within %.1e of %v", i, got[i], w.value, limit, w.scale)
		}
	}
	return nil
}

// checkArray compares an array with its reference.
func checkArray(name string, got []float32, want tensor, limit float64) error {
	if limit == exact {
		for i, w := range want.v {
			if !sameBits(got[i], float32(w)) {
				return fmt.Errorf("%s%s is %v, want exactly %v", name, position(want.Shape, i), got[i], float32(w))
			}
		}
		return nil
	}
	var squares, energy, worst float64
	at := 0
	for i, w := range want.v {
		d := float64(got[i]) - w
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return fmt.Errorf("%s%s is %v, want %v", name, position(want.Shape, i), got[i], w)
		}
		if math.Abs(d) > worst {
			worst, at = math.Abs(d), i
		}
		squares += d * d
		energy += w * w
	}
	if squares > limit*energy {
		return fmt.Errorf("%s: normalised mean squared error %.2e, limit %.0e; worst at %s: %v, want %v",
			name, squares/energy, limit, position(want.Shape, at), got[at], want.v[at])
	}
	return nil
}

// checkBits compares two arrays bit for bit.
func checkBits(name string, s backend.Shape, got, want []float32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d numbers, want %d", name, len(got), len(want))
	}
	for i, w := range want {
		if !sameBits(got[i], w) {
			return fmt.Errorf("%s%s is %v, want the bits of %v", name, position(s, i), got[i], w)
		}
	}
	return nil
}

func sameBits(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// position writes element i of an array as [n,c,y,x].
func position(s backend.Shape, i int) string {
	x := i % s.W
	i /= s.W
	y := i % s.H
	i /= s.H
	return fmt.Sprintf("[%d,%d,%d,%d]", i/s.C, i%s.C, y, x)
}
