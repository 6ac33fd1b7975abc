package rungekutta

import (
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/averaged"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// An Euler step of a layer is averaged with its constant, and with no smaller one.
func TestEulerStepIsAveraged(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		l := newLayer(rng, 4, 3) // of norm 1
		h := 2 * rng.Float64()
		alpha := averaged.EulerStep(h, 1, 1)
		for range 20 {
			x, y := make([]float64, 3), make([]float64, 3)
			for i := range x {
				x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			px, py := addVector(x, h, l.field(x)), addVector(y, h, l.field(y))
			moved := distance(addVector(x, -1, px), addVector(y, -1, py))
			after, before := distance(px, py), distance(x, y)
			require.LessOrEqual(t, after*after, before*before-(1-alpha)/alpha*moved*moved+1e-9)
		}
	}
}

// Whatever Steps finds is a step whose constant is at most 1.
func TestStepsAreAveraged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, norm := rapid.Float64Range(1e-3, 4).Draw(t, "h"), rapid.Float64Range(1e-3, 30).Draw(t, "norm")
		n, err := Steps(h, norm, 1, 1)
		require.NoError(t, err)
		alpha := averaged.EulerStep(float64(StepSize(h, n)), norm, 1)
		require.LessOrEqual(t, alpha, 1.0)
		require.InEpsilon(t, h/float64(n)*norm*norm/2, alpha, 1e-6)
	})
}
