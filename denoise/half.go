package denoise

import (
	"fmt"

	"github.com/averaged/imaging/internal/nn/tensors"
)

// Rounded16 returns the model with all weights, biases, gains and radii rounded to the nearest float16, ties to even.
// That is another network, with a certificate of its own. It returns an error if a number exceeds 65504, the range of
// float16.
func (m Model) Rounded16() (Model, error) {
	rounded := m.clone()
	for i, b := range rounded.Blocks {
		for _, part := range []struct {
			what   string
			values []float32
		}{{"weight", b.Filter}, {"bias", b.Bias}, {"gain", b.Gain}, {"radius", b.Radius}} {
			halves, err := tensors.RoundHalf(part.what, part.values)
			if err != nil {
				return Model{}, fmt.Errorf("block %d: %w", i, err)
			}
			copy(part.values, halves)
		}
	}
	if rounded.Guide == nil {
		return rounded, nil
	}
	for _, l := range rounded.Guide.Layers {
		for _, values := range [][]float32{l.Weight, l.Bias} {
			halves, err := tensors.RoundHalf(l.Name, values)
			if err != nil {
				return Model{}, err
			}
			copy(values, halves)
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
	if m.Guide == nil {
		return ""
	}
	for i, l := range m.Guide.Layers {
		o := other.Guide.Layers[i]
		for _, part := range [][2][]float32{{l.Weight, o.Weight}, {l.Bias, o.Bias}} {
			for k, v := range part[0] {
				if v != part[1][k] {
					return fmt.Sprintf("%s: number %d, %v,", l.Name, k, v)
				}
			}
		}
	}
	return ""
}
