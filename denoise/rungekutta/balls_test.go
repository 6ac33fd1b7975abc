package rungekutta

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// ballLayer is f(z) = −Aᵀσ(Az + b) where σ projects groups of two onto balls, and a matrix A
// of norm 1.
type ballLayer struct {
	layer
	radius []float64
}

func (l ballLayer) field(z []float64) []float64 {
	u := append([]float64{}, l.b...)
	for i, row := range l.a {
		for j, a := range row {
			u[i] += a * z[j]
		}
	}
	plain.ProjectBalls(u, l.radius, 1)
	f := make([]float64, len(z))
	for i, row := range l.a {
		for j, a := range row {
			f[j] -= a * u[i]
		}
	}
	return f
}

// The inequality that every proof rests on holds, and is sharp: ⟨f(x) − f(y), x − y⟩ ≤
// −‖f(x) − f(y)‖² for ‖A‖ = 1.
func TestBallsAreCocoercive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		l := ballLayer{newLayer(rng, 6, 4), []float64{rng.Float64(), 10 * rng.Float64(), 0}}
		size := math.Exp(rapid.Float64Range(-12, 5).Draw(t, "log ‖x − y‖"))
		x, y := make([]float64, 4), make([]float64, 4)
		for i := range x {
			x[i] = 3 * rng.NormFloat64()
			y[i] = x[i] + size*rng.NormFloat64()
		}
		fx, fy := l.field(x), l.field(y)
		inner, apart := 0.0, distance(fx, fy)
		for i := range x {
			inner += (fx[i] - fy[i]) * (x[i] - y[i])
		}
		require.LessOrEqual(t, inner, -apart*apart*(1-1e-9)+1e-14*distance(x, y))
	})
}

// The largest step that the radius of contractivity allows is nonexpansive, where a search
// looks for the worst pair, and Euler's method averaged with its constant; a larger step is
// not.
func TestLimitStepIsNonexpansiveAlongBalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	for _, tableau := range append(shipped(), ralston, rule38) {
		r, err := tableau.Radius()
		require.NoError(t, err)
		run := func(l ballLayer, h float64, z []float64) []float64 {
			return step(tableau, h, z, addVector, func(_ int, z []float64) []float64 { return l.field(z) })
		}
		largest := 0.0
		for range 30 {
			l := ballLayer{newLayer(rng, 6, 3), []float64{rng.Float64(), 3 * rng.Float64(), math.Exp(6 * rng.NormFloat64())}}
			ratio := func(x, d []float64) float64 {
				y := addVector(x, 1, d)
				return distance(run(l, 2*r, x), run(l, 2*r, y)) / distance(x, y)
			}
			best, x, d := worst(rng, ratio)
			if tableau.IsEuler() { // half the limit: ½-averaged, so firmly nonexpansive
				y := addVector(x, 1, d)
				fx, fy := run(l, 1, x), run(l, 1, y)
				inner := 0.0
				for i := range x {
					inner += (fx[i] - fy[i]) * (x[i] - y[i])
				}
				require.LessOrEqual(t, distance(fx, fy)*distance(fx, fy), inner+1e-12)
			}
			largest = max(largest, best)
		}
		require.LessOrEqual(t, largest, 1+1e-9, tableau.Name)
	}
	// Inside the ball σ is the identity, and Euler's step expands beyond the limit.
	l := ballLayer{layer{a: [][]float64{{1, 0}, {0, 0.3}}, b: []float64{0, 0}}, []float64{9}}
	euler := func(h float64, z []float64) []float64 {
		return step(ForwardEuler(), h, z, addVector, func(_ int, z []float64) []float64 { return l.field(z) })
	}
	x, y := []float64{1, 0}, []float64{2, 0}
	require.InDelta(t, 1, distance(euler(2, x), euler(2, y)), 1e-15)
	require.Greater(t, distance(euler(2.02, x), euler(2.02, y)), 1.01)
}
