package samples

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEverySampleValueSurvivesFloat(t *testing.T) {
	for v := range 256 {
		require.Equal(t, uint32(v), Quantise(Unit8[v], 255))
	}
	for v := range 65536 {
		if Quantise(Unit16(uint16(v)), 65535) != uint32(v) {
			t.Fatalf("%d becomes %d", v, Quantise(Unit16(uint16(v)), 65535))
		}
	}
	require.Zero(t, Quantise(float32(math.NaN()), 255))
	require.Equal(t, uint32(255), Quantise(float32(math.Inf(1)), 255))
	require.Zero(t, Quantise(float32(math.Inf(-1)), 255))
}
