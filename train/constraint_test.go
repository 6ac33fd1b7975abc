package train

import (
	"math"
	"strings"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
)

// TestParameterGradients compares the gradients of the parameters, through the
// normalisation, the budget and the scaled bias, with central differences. The vector of
// the power iteration is held fixed, as in the gradient's definition. What is perturbed is
// float32 on the host.
func TestParameterGradients(t *testing.T) {
	leaveFloat64(t)
	for _, constraint := range []string{string(Adaptive), string(Budget), "levels", "balls", "levels, balls"} {
		for _, integrator := range []string{"euler", "heun"} {
			dev := reference(t)
			c := smallConfig()
			c.Constraint, c.Integrator, c.Length = Constraint(constraint), integrator, 0.9
			switch constraint {
			case "levels", "levels, balls":
				c = levelsConfig()
				c.Integrator, c.Length = integrator, 0.9
			case "balls":
				c.Constraint = Budget
			}
			if constraint != strings.TrimSuffix(constraint, "balls") {
				c.Group = 2
			}
			c.Slope = 0.8 // a step of a float32 passes kinks, unlike that of TestFlowGradients
			n := newTestAveraged(t, dev, c)
			for _, p := range n.parameters() { // away from the norms of the beginning
				for i := range p.values {
					p.values[i] *= 1.6
				}
			}
			require.NoError(t, n.update())
			state, err := n.state()
			require.NoError(t, err)
			x, r := gaussianBuffer(t, dev, c.batchShape(), 1), gaussianBuffer(t, dev, c.batchShape(), 2)
			out, err := dev.Alloc(c.batchShape())
			require.NoError(t, err)
			value := func() float64 {
				require.NoError(t, n.restore(state))
				require.NoError(t, n.tune(0.08)) // between two of three levels
				require.NoError(t, n.forward(t.Context(), out, x))
				var sum [1]float64
				require.NoError(t, dev.Reduce(sum[:], backend.Reduction{Kind: backend.Dot, X: out, Y: r}))
				return sum[0]
			}
			value()
			require.NoError(t, n.zeroGradients())
			require.NoError(t, n.backward(t.Context(), r))
			require.NoError(t, n.gradients())
			g := newGenerator(3)
			for _, p := range n.parameters() {
				// Mostly along the gradient, so that the terms do not cancel.
				direction := make([]float64, len(p.values))
				largest, want := 0.0, 0.0
				if strings.HasPrefix(constraint, "levels") && len(p.shape) == 2 {
					require.Zero(t, p.gradient[len(p.gradient)-1], "the third level")
				}
				for _, v := range p.gradient {
					largest = max(largest, math.Abs(float64(v)))
				}
				for i := range direction {
					direction[i] = float64(p.gradient[i])/largest + 0.4*g.uniform() - 0.2
					want += direction[i] * float64(p.gradient[i])
				}
				step, tolerance := 0x1p-13, 3e-3
				if c.Group > 0 {
					tolerance = 1e-2 // the step passes more of the kinks
				}
				if len(p.shape) == 2 {
					step = 0x1p-10 // float32 of a logit, twice removed from the filters
				}
				old := append([]float32(nil), p.values...)
				at := func(by float64) float64 {
					for i, v := range old {
						p.values[i] = float32(float64(v) + by*direction[i])
					}
					return value()
				}
				require.InEpsilon(t, (at(step)-at(-step))/(2*step), want, tolerance, "%s, %s: %s", constraint, integrator, p.name)
				copy(p.values, old)
			}
		}
	}
}

// TestThroughNorm: the gradient through V·c/‖V‖ in the Euclidean norm, whose gradient is
// V/‖V‖, by differences.
func TestThroughNorm(t *testing.T) {
	v := []float32{0.5, -1.5, 2, 0.25}
	r := []float64{1, 2, -0.5, 3}
	loss := func(v []float64, c float64) float64 {
		norm, sum := 0.0, 0.0
		for _, x := range v {
			norm += x * x
		}
		for i, x := range v {
			sum += r[i] * x * c / math.Sqrt(norm)
		}
		return sum
	}
	const c, step = 1.25, 1e-5
	wide, norm := make([]float64, len(v)), 0.0
	for i, x := range v {
		wide[i] = float64(x)
		norm += wide[i] * wide[i]
	}
	norm = math.Sqrt(norm)
	gradient, slope := make([]float32, len(v)), make([]float32, len(v))
	for i := range v {
		gradient[i], slope[i] = float32(r[i]), float32(wide[i]/norm)
	}
	dc := throughNorm(gradient, v, slope, c, norm)
	require.InDelta(t, (loss(wide, c+step)-loss(wide, c-step))/(2*step), dc, 1e-6)
	for i := range wide {
		old := wide[i]
		wide[i] = old + step
		up := loss(wide, c)
		wide[i] = old - step
		require.InDelta(t, (up-loss(wide, c))/(2*step), gradient[i], 1e-6)
		wide[i] = old
	}
}

// TestInitialNorm: training begins with filters of norm 1, or of a share of the limit.
func TestInitialNorm(t *testing.T) {
	for limit, want := range map[float64]float64{1.4: 0.7, 0.5: 0.25} {
		c := smallConfig()
		c.NormLimit, c.InitialNorm = limit, 0.5
		n := newTestAveraged(t, processor(t), c)
		for _, b := range n.flow.blocks {
			require.InEpsilon(t, want, b.c, 1e-6)
			// A as the device applies it, to the v of the power iteration.
			require.InEpsilon(t, want, b.factor*b.power.norm, 1e-6)
		}
	}
	c := smallConfig()
	c.Constraint = Adaptive
	n := newTestAveraged(t, processor(t), c)
	for _, b := range n.flow.blocks {
		require.InEpsilon(t, 1, b.c, 1e-4)
		require.Equal(t, 1, b.steps)
		require.Equal(t, float32(1), b.step)
	}
}

// TestPowerIteration: of a filter whose norm is known, one tap of 3 in the middle times a
// rotation of channels.
func TestPowerIteration(t *testing.T) {
	dev := reference(t)
	w, err := dev.Alloc(backend.Shape{N: 2, C: 2, H: 3, W: 3})
	require.NoError(t, err)
	values := make([]float32, 36)
	values[0*18+0*9+4], values[0*18+1*9+4] = 0, -3
	values[1*18+0*9+4], values[1*18+1*9+4] = 1, 0
	require.NoError(t, dev.Upload(w, values))
	filter, err := dev.NewFilter(w)
	require.NoError(t, err)
	q := &devicequeue.Queue{Dev: dev}
	p := newPower(q, devicequeue.NewPool(dev), filter, 5)
	p.start(q, 1)
	require.NoError(t, q.Err)
	require.Less(t, p.norm, 2.99)
	p.converge(q, 1000)
	require.NoError(t, q.Err)
	require.InEpsilon(t, 3, p.norm, 1e-5)

	// A filter of zeros divides nothing by zero.
	require.NoError(t, dev.Upload(w, make([]float32, 36)))
	q.UpdateFilter(filter, w)
	p.converge(q, 5)
	require.NoError(t, q.Err)
	require.Equal(t, smallestNorm, p.norm)
}

// TestAdaptiveSteps: the paper's rule, with weights that grow.
func TestAdaptiveSteps(t *testing.T) {
	s := scaling{constraint: Adaptive, length: 1, radius: 1}
	for norm, want := range map[float64]int{0.1: 1, 1.41: 1, 1.42: 2, 2: 2, 2.01: 3, 10: 50} {
		factor, c, steps, err := s.of(norm, 7)
		require.NoError(t, err)
		require.Equal(t, []any{1.0, norm, want}, []any{factor, c, steps})
	}
	_, _, _, err := s.of(1000, 0)
	require.ErrorContains(t, err, "more than 256 steps")

	b := scaling{constraint: Budget, limit: 1.4, length: 1, radius: 1}
	factor, c, steps, err := b.of(5, 0)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.7 / 5, 0.7, 1}, []float64{factor, c, float64(steps)}, 1e-15)
}
