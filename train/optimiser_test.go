package train

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSGDByHand: two steps with momentum and weight decay.
func TestSGDByHand(t *testing.T) {
	w, b := newParameter("w", true, 1), newParameter("b", false, 1)
	m := newOptimiser(Optimiser{Name: SGD, Momentum: 0.5, WeightDecay: 0.25}, []*parameter{w, b})
	w.values[0], b.values[0] = 4, 4
	w.gradient[0], b.gradient[0] = 1, 1
	m.step(0, 0.5, 1) // v = 1 + 0.25·4 = 2, and 1 without decay
	require.Equal(t, []float32{3, 3.5}, []float32{w.values[0], b.values[0]})
	m.step(1, 0.5, 1) // v = 0.5·2 + 1 + 0.75 = 2.75, and 0.5 + 1
	require.Equal(t, []float32{1.625, 2.75}, []float32{w.values[0], b.values[0]})
}

// TestAdamByHand: the first step has the size of the rate, whatever the gradient's; the
// second is computed here from the formulas.
func TestAdamByHand(t *testing.T) {
	o := AdamDefaults()
	o.WeightDecay = 0.1
	w, b := newParameter("w", true, 2), newParameter("b", false, 1)
	m := newOptimiser(o, []*parameter{w, b})
	w.values[0], w.values[1], b.values[0] = 1, 1, 1
	w.gradient[0], w.gradient[1], b.gradient[0] = 1e-3, -20, 5
	m.step(0, 0.01, 1)
	require.InDelta(t, 0.999*1-0.01, w.values[0], 1e-6)
	require.InDelta(t, 0.999*1+0.01, w.values[1], 1e-6)
	require.InDelta(t, 0.99, b.values[0], 1e-6)
	before := float64(b.values[0])
	b.gradient[0] = -1
	m.step(1, 0.01, 1)
	first := (0.9*0.1*5 - 0.1*1) / (1 - 0.81)
	second := (0.999*0.001*25 + 0.001*1) / (1 - 0.998001)
	require.InDelta(t, before-0.01*first/math.Sqrt(second), b.values[0], 1e-6)
}

// TestGradientLimit: a gradient that is too long is shortened, another is not.
func TestGradientLimit(t *testing.T) {
	for gradient, want := range map[float32]float32{3: -2, 1: -1} {
		p := newParameter("p", true, 1)
		m := newOptimiser(Optimiser{Name: SGD, GradientLimit: 2}, []*parameter{p})
		p.gradient[0] = gradient
		m.step(0, 1, gradientNorm(m.parameters))
		require.Equal(t, want, p.values[0])
	}
	p := newParameter("p", true, 2)
	p.gradient[0], p.gradient[1] = 3, 4
	require.InDelta(t, 5, gradientNorm([]*parameter{p}), 1e-12)
}

// TestOptimisersFindAMinimum of a badly scaled quadratic.
func TestOptimisersFindAMinimum(t *testing.T) {
	for _, o := range []Optimiser{{Name: SGD, Momentum: 0.9}, AdamDefaults()} {
		p := newParameter("p", true, 3)
		m := newOptimiser(o, []*parameter{p})
		copy(p.values, []float32{1, -2, 3})
		for i := range 1000 {
			for k, scale := range []float32{1, 5, 20} {
				p.gradient[k] = scale * (p.values[k] - float32(k))
			}
			m.step(i, Schedule{Name: Cosine, Maximum: 0.03}.Rate(i, 1000), 0)
		}
		require.InDeltaSlice(t, []float32{0, 1, 2}, p.values, 1e-3, o.Name)
	}
}

func TestSchedules(t *testing.T) {
	at := func(s Schedule, iterations ...int) []float64 {
		var list []float64
		for _, i := range iterations {
			list = append(list, s.Rate(i, 100))
		}
		return list
	}
	const tiny = 1e-12
	require.InDeltaSlice(t, []float64{1, 1, 1}, at(Schedule{Name: Constant, Maximum: 1}, 0, 50, 99), tiny)
	require.InDeltaSlice(t, []float64{0.2, 0.6, 1, 0.5, 0.02}, at(Schedule{Name: PiecewiseLinear, Minimum: 0.2, Maximum: 1}, 0, 25, 50, 75, 99), tiny)
	require.InDeltaSlice(t, []float64{1, 0.6, 0.2}, at(Schedule{Name: Cosine, Minimum: 0.2, Maximum: 1}, 0, 50, 100), tiny)
	require.InDeltaSlice(t, []float64{1e-4, 1e-3, 1e-2}, at(Schedule{Name: Exponential, Minimum: 1e-4, Maximum: 1e-2}, 0, 50, 100), tiny)
	require.InDeltaSlice(t, []float64{0.25, 0.5, 0.75, 1, 1}, at(Schedule{Name: Constant, Maximum: 1, Warmup: 3}, 0, 1, 2, 3, 4), tiny)
}
