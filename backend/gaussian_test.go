package backend

import (
	"hash/fnv"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogarithmAndCircle(t *testing.T) {
	for i := range 20000 {
		u := float64(mix64(uint64(i))>>11+1) * 0x1p-53
		require.InEpsilon(t, math.Log(u)-1e-300, logarithm(u), 1e-13, "u %v", u)
		s, c := sinCosTurn(u * (1 - 0x1p-53))
		ws, wc := math.Sincos(2 * math.Pi * u)
		require.InDelta(t, ws, s, 2e-15)
		require.InDelta(t, wc, c, 2e-15)
	}
	for _, u := range []float64{0x1p-53, 0x1p-52, 0.25, 0.5, 0.70710678, 1 - 0x1p-53} {
		require.InEpsilon(t, math.Log(u), logarithm(u), 1e-13)
	}
	require.Zero(t, logarithm(1))
}

func TestGaussianIsStandardNormal(t *testing.T) {
	const n = 1 << 20
	var m1, m2, m3, m4, lag float64
	var below [5]float64
	prev := 0.0
	for i := range uint64(n) {
		g := float64(GaussianAt(7, i))
		m1 += g
		m2 += g * g
		m3 += g * g * g
		m4 += g * g * g * g
		lag += g * prev
		prev = g
		for k, q := range []float64{-2, -1, 0, 1, 2} {
			if g < q {
				below[k]++
			}
		}
	}
	// Five standard errors each.
	sd := 5 / math.Sqrt(n)
	require.InDelta(t, 0, m1/n, sd)
	require.InDelta(t, 1, m2/n, sd*math.Sqrt(2))
	require.InDelta(t, 0, m3/n, sd*math.Sqrt(15))
	require.InDelta(t, 3, m4/n, sd*math.Sqrt(96))
	require.InDelta(t, 0, lag/n, sd)
	for k, q := range []float64{-2, -1, 0, 1, 2} {
		p := 0.5 * math.Erfc(-q/math.Sqrt2)
		require.InDelta(t, p, below[k]/n, sd*math.Sqrt(p*(1-p)))
	}
}

// The sequence is part of the contract: degraded test images must be the same
// with every version, device and processor.
func TestGaussianSequenceIsFixed(t *testing.T) {
	h := fnv.New64a()
	for seed := range uint64(3) {
		for i := range uint64(4096) {
			b := math.Float32bits(GaussianAt(seed, i))
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		}
	}
	require.Equal(t, uint64(0xba0f1efa668adaa5), h.Sum64())
	e, o := GaussianPair(3, 5)
	require.Equal(t, GaussianAt(3, 10), e)
	require.Equal(t, GaussianAt(3, 11), o)
}
