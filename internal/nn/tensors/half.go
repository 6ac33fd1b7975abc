package tensors

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/weights"
)

// TypeOf returns the type that the options ask for, float32 without any.
func TypeOf(opts ...weights.FileOption) weights.DType {
	dtype := weights.F32
	for _, option := range opts {
		if option != nil {
			option(&dtype)
		}
	}
	return dtype
}

// RoundHalf returns the values rounded to the nearest float16, ties to even, or an error
// that names one that is beyond float16's range.
func RoundHalf(what string, values []float32) ([]float32, error) {
	t, err := weights.NewTensor(what, weights.F16, []int{len(values)}, values)
	if err != nil {
		return nil, err
	}
	halves, err := t.Float32s()
	if err != nil {
		return nil, err
	}
	for k, v := range halves {
		if math.IsInf(float64(v), 0) && !math.IsInf(float64(values[k]), 0) {
			return nil, fmt.Errorf("%s %d is %v, beyond float16's range of ±65504", what, k, values[k])
		}
	}
	return halves, nil
}
