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
