package srgb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInverse(t *testing.T) {
	for i := range 256 {
		v := float64(i) / 255
		require.InDelta(t, v, Encoded(Linear(v)), 1e-6)
	}
	require.Zero(t, Encoded(0))
	require.InDelta(t, 1, Encoded(1), 1e-12)
	require.InDelta(t, 0.2140411, Linear(0.5), 1e-7)
}

func TestSlopes(t *testing.T) {
	const d = 1e-7
	for _, v := range []float64{-0.2, 0, 0.02, 0.05, 0.3, 0.9, 1, 3, 16} {
		light, slope := LinearWithSlope(v)
		require.Equal(t, Linear(v), light)
		require.InEpsilon(t, (Linear(v+d)-Linear(v-d))/(2*d), slope, 1e-6)
		sample, inverse := EncodedWithSlope(light)
		require.Equal(t, Encoded(light), sample)
		require.InEpsilon(t, 1, slope*inverse, 1e-4)
	}
}
