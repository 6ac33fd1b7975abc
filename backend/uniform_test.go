package backend

import (
	"hash/fnv"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUniformIsUniform(t *testing.T) {
	const n = 1 << 18
	var m1, m2, lag, normal float64
	var below [8]float64
	prev := 0.0
	for i := range uint64(n) {
		u := UniformAt(7, i)
		require.True(t, u >= 0 && u < 1)
		m1 += u
		m2 += u * u
		lag += (u - 0.5) * prev
		prev = u - 0.5
		normal += prev * float64(GaussianAt(7, i))
		below[int(8*u)]++
	}
	// Five standard errors each.
	sd := 5 / math.Sqrt(n)
	require.InDelta(t, 1./2, m1/n, sd*math.Sqrt(1./12))
	require.InDelta(t, 1./3, m2/n, sd*math.Sqrt(4./45))
	require.InDelta(t, 0, lag/n, sd/12)
	require.InDelta(t, 0, normal/n, sd*math.Sqrt(1./12), "independent of the normal sequence")
	for _, b := range below {
		require.InDelta(t, 1./8, b/n, sd*math.Sqrt(7./64))
	}
}

// The sequence is part of the contract, like that of GaussianAt.
func TestUniformSequenceIsFixed(t *testing.T) {
	h := fnv.New64a()
	for seed := range uint64(3) {
		for i := range uint64(1024) {
			b := math.Float64bits(UniformAt(seed, i))
			for k := range 8 {
				h.Write([]byte{byte(b >> (8 * k))})
			}
		}
	}
	require.Equal(t, uint64(0x7952eaa5193c1b42), h.Sum64())
}
