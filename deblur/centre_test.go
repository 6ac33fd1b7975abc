package deblur

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCentredAndTurned(t *testing.T) {
	k := Kernel{H: 3, W: 4, CY: 1, CX: 2, Weights: []float32{
		0, 0, 0, 0,
		0, 0, 0, 0,
		.5, .5, 0, 0,
	}}
	dy, dx := k.OffCentre()
	require.Equal(t, [2]float64{1, -1.5}, [2]float64{dy, dx})
	c := k.Centred()
	require.Equal(t, [2]int{2, 0}, [2]int{c.CY, c.CX})
	require.Equal(t, k.Weights, c.Weights)
	dy, dx = c.OffCentre()
	require.LessOrEqual(t, max(dy, -dy, dx, -dx), .5)

	turned := k.Turned()
	ty, tx := turned.OffCentre()
	require.Equal(t, [2]float64{-1, 1.5}, [2]float64{ty, tx})
	require.Equal(t, k, turned.Turned())

	for _, shape := range []func() (Kernel, error){
		func() (Kernel, error) { return Shake(15, 3) }, func() (Kernel, error) { return Motion(7, 20) },
	} {
		k, err := shape()
		require.NoError(t, err)
		require.Equal(t, k, k.Centred(), "what this package makes is centred")
	}
}
