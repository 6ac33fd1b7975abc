package weights

import (
	"fmt"
	"math"
)

// FileOption changes how denoise.Model.File and dncnn.Model.File write a network.
type FileOption func(*DType)

// HalfPrecision makes denoise.Model.File write the tensors as float16, half as large. Nothing is
// rounded: a number that is no float16 is an error (denoise.Model.Rounded16). So the file holds the
// model itself, and the certificate is that of what is stored. The checksum of the card
// is that of the tensors as the file has them, and differs from that of a float32 file;
// the one of the certificate, denoise.Model.Checksum, is the same for both. Of a DnCNN only the filters
// are float16.
func HalfPrecision() FileOption {
	return func(d *DType) { *d = F16 }
}

// TypeOf returns the type that the options ask for, float32 without any.
func TypeOf(opts ...FileOption) DType {
	dtype := F32
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
	t, err := NewTensor(what, F16, []int{len(values)}, values)
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
