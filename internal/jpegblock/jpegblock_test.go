package jpegblock

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

func TestTransformAgainstItsDefinition(t *testing.T) {
	var b [64]float32
	for i := range b {
		b[i] = 60 * backend.GaussianAt(1, uint64(i))
	}
	got := b
	Forward(&got)
	weight := func(k, x int) float64 {
		if k == 0 {
			return math.Sqrt(1. / 8)
		}
		return 0.5 * math.Cos(float64((2*x+1)*k)*math.Pi/16)
	}
	for v := range 8 {
		for u := range 8 {
			sum := 0.0
			for i, s := range b {
				sum += float64(s) * weight(v, i/8) * weight(u, i%8)
			}
			require.InDelta(t, sum, got[8*v+u], 1e-3)
		}
	}
	Inverse(&got)
	for i := range b {
		require.InDelta(t, b[i], got[i], 1e-4)
	}
}

func TestSteps(t *testing.T) {
	require.Equal(t, standardSteps, Steps(50))
	for table, steps := range Steps(100) {
		for _, s := range steps {
			require.Equal(t, 1, s, "table %d", table)
		}
	}
	for quality := 2; quality <= 100; quality++ {
		before, after := Steps(quality-1), Steps(quality)
		for table := range after {
			for i, s := range after[table] {
				require.True(t, s >= 1 && s <= before[table][i], "quality %d", quality)
			}
		}
	}
}
