package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/learning"
)

// made returns samples whose level follows from two features, with some chance in it.
func made(n int) []sample {
	r := rand.New(rand.NewPCG(3, 4))
	var set []sample
	for range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		level := math.Exp(0.8*a-0.5*b*b+0.3*r.NormFloat64()) / 255
		set = append(set, sample{Features: []float64{a, b, r.NormFloat64()}, Level: level})
	}
	return set
}

// What is learned are the quantiles.
func TestFitLearnsQuantiles(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute under the race detector, which has nothing to find in one goroutine, and at each level of the processor, which it does not depend on: go test ./... makes it")
	}
	set := made(3000)
	r := fit(set, 900)
	fresh := made(6000)[3000:]
	var below [3]float64
	for _, s := range fresh {
		out := r.Outputs(s.Features)
		for k := range out {
			if target(s) < out[k] {
				below[k] += 1 / float64(len(fresh))
			}
		}
	}
	for k, q := range levels {
		require.InDelta(t, q, below[k], 0.06)
	}
	require.Less(t, spread(r, fresh), 1.6)
}

// The same number gives the same sample.
func TestDrawIsRepeatable(t *testing.T) {
	p := learning.Photograph{Pix: make([]float32, 3*200*220), Height: 200, Width: 220}
	for i := range p.Pix {
		p.Pix[i] = float32(0.5 + 0.4*math.Sin(float64(i%220)/9)*math.Cos(float64(i/220)/7))
	}
	found := 0
	for number := range uint64(12) {
		for _, grey := range []bool{false, true} {
			a, ok, err := draw([]learning.Photograph{p}, number, grey)
			require.NoError(t, err)
			b, again, err := draw([]learning.Photograph{p}, number, grey)
			require.NoError(t, err)
			require.Equal(t, ok, again)
			require.Equal(t, a, b)
			if ok {
				found++
				require.False(t, math.IsNaN(a.Level) || a.Level < 0)
			}
		}
	}
	require.Greater(t, found, 12)
}
