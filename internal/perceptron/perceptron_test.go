package perceptron

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Features are shifted, scaled and kept within bounds, hidden layers go through tanh, and the last does not.
func TestOutputs(t *testing.T) {
	n := Network{
		Shift: []float32{1, 0},
		Scale: []float32{2, 0.5},
		Rows: [][][]float32{
			{{0.5, 0.25, 0.125}},
			{{3, 1}, {-2, 0.5}},
		},
	}
	hidden := math.Tanh(0.5*2*(1.5-1) + 0.25*0.5*2 + 0.125)
	require.InDeltaSlice(t, []float64{3*hidden + 1, -2*hidden + 0.5}, n.Outputs([]float64{1.5, 2}), 1e-15)
	hidden = math.Tanh(0.5*Farthest - 0.25*Farthest + 0.125)
	require.InDeltaSlice(t, []float64{3*hidden + 1, -2*hidden + 0.5}, n.Outputs([]float64{1e30, math.Inf(-1)}), 1e-15)
}
