package denoise

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/weights"
)

// FileOption changes how Model.File and DnCNN.File write a network.
type FileOption func(*weights.DType)

// HalfPrecision makes Model.File write the tensors as float16, half as large. Nothing is
// rounded: a number that is no float16 is an error (Model.Rounded16). So the file holds the
// model itself, and the certificate is that of what is stored. The checksum of the card
// is that of the tensors as the file has them, and differs from that of a float32 file;
// the one of the certificate, Model.Checksum, is the same for both. Of a DnCNN only the filters
// are float16.
func HalfPrecision() FileOption {
	return func(d *weights.DType) { *d = weights.F16 }
}

// fileType returns the type that the options ask for, float32 without any.
func fileType(opts []FileOption) weights.DType {
	dtype := weights.F32
	for _, option := range opts {
		if option != nil {
			option(&dtype)
		}
	}
	return dtype
}

// roundHalf returns the values rounded to the nearest float16, ties to even, or an error
// that names one that is beyond float16's range.
func roundHalf(what string, values []float32) ([]float32, error) {
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

// Rounded16 returns the model with all weights, biases, gains and radii rounded to the nearest
// float16, ties to even: another network, with a certificate of its own. It is an error
// if one of them is beyond float16's range, 65504.
func (m Model) Rounded16() (Model, error) {
	rounded := m.clone()
	for i, b := range rounded.Blocks {
		for _, part := range []struct {
			what   string
			values []float32
		}{{"weight", b.Filter}, {"bias", b.Bias}, {"gain", b.Gain}, {"radius", b.Radius}} {
			halves, err := roundHalf(part.what, part.values)
			if err != nil {
				return Model{}, fmt.Errorf("block %d: %w", i, err)
			}
			copy(part.values, halves)
		}
	}
	return rounded, nil
}

// firstDifference names the first number in which two models of one form differ, with its
// value in m; it is empty if there is none.
func (m Model) firstDifference(other Model) string {
	for i, b := range m.Blocks {
		o := other.Blocks[i]
		for _, part := range []struct {
			what         string
			mine, theirs []float32
		}{{"weight", b.Filter, o.Filter}, {"bias", b.Bias, o.Bias}, {"gain", b.Gain, o.Gain}, {"radius", b.Radius, o.Radius}} {
			for k, v := range part.mine {
				if v != part.theirs[k] {
					return fmt.Sprintf("block %d: %s %d, %v,", i, part.what, k, v)
				}
			}
		}
	}
	return ""
}
