package deblur

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The level is in proportion to the noise and to √step, and is least where nothing is blurred.
func TestPriorLevel(t *testing.T) {
	none, err := NewKernel([]float32{1}, 1, 1)
	require.NoError(t, err)
	box, err := Box(5)
	require.NoError(t, err)
	require.Equal(t, 1.0, none.Energy())
	require.InDelta(t, 1.0/25, box.Energy(), 1e-7)
	require.InDelta(t, 1.08*0.7*0.1*2, PriorLevel(0.1, none, 4), 1e-12)
	require.InDelta(t, 1.08*(1-0.3/25)*0.1*2, PriorLevel(0.1, box, 4), 1e-7)
	require.InDelta(t, 3*PriorLevel(0.1, box, 4), PriorLevel(0.3, box, 4), 1e-12)
	require.InDelta(t, math.Sqrt(5)*PriorLevel(0.1, box, 2), PriorLevel(0.1, box, 10), 1e-12)
	// One with negative weights can have more energy than none at all.
	sharp := Kernel{Weights: []float32{-1, 3, -1}, H: 1, W: 3, CX: 1}
	require.NoError(t, sharp.Check())
	require.Equal(t, PriorLevel(0.1, none, 4), PriorLevel(0.1, sharp, 4))
}
