// Package perceptron evaluates small networks that were learned (package learning makes them): rules that say from what was
// measured of an image what cannot be measured.
package perceptron

import "math"

// Network is layers that follow one another, W·x + b, with tanh after all but the last (a multilayer perceptron).
type Network struct {
	Shift, Scale []float32 // of each feature
	// Rows are those of each layer: weights, and a bias at the end.
	Rows [][][]float32
}

// Farthest is how far from what was learned from a feature counts, in standard deviations: those beyond it are taken for the
// farthest of it.
const Farthest = 4

// Outputs returns what the network says of features: one value for each row of the last layer.
func (n *Network) Outputs(features []float64) []float64 {
	x := make([]float64, len(features))
	for i, f := range features {
		x[i] = min(max((f-float64(n.Shift[i]))*float64(n.Scale[i]), -Farthest), Farthest)
	}
	for l, rows := range n.Rows {
		y := make([]float64, len(rows))
		for i, row := range rows {
			y[i] = affine(row, x)
			if l < len(n.Rows)-1 {
				y[i] = math.Tanh(y[i])
			}
		}
		x = y
	}
	return x
}

// affine returns the sum of row[i]·x[i] and the bias at the end of row.
func affine(row []float32, x []float64) float64 {
	sum := float64(row[len(x)])
	for i, v := range x {
		sum += float64(float64(row[i]) * v)
	}
	return sum
}
