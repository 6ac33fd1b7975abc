package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// reference is a device that computes in float64.
func reference(t testing.TB) backend.Device {
	dev := refdevice.New(refdevice.Options{})
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// leaveFloat64 skips a test that takes long in float64 and in plain loops, on the reference's one
// goroutine: the race detector has little to find there, and IMAGING_CPU changes nothing.
func leaveFloat64(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("computed in float64, by plain loops in one goroutine: go test ./... does")
	}
}

func processor(t testing.TB, options ...cpu.Option) backend.Device {
	dev := cputest.Open(t, options...)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// smallConfig is a network that tests can afford.
func smallConfig() Config {
	c := DefaultConfig()
	c.Shuffle, c.Group, c.HalfPrecision = 0, 0, false // the paper's; tests of those set them
	c.Width, c.Blocks, c.Batch, c.Crop, c.PowerSize = 6, 3, 2, 9, 7
	c.Iterations, c.CheckpointEvery, c.ReportEvery, c.ValidateEvery = 12, 5, 3, 6
	c.SigmaMin, c.SigmaMax, c.AverageDecay = 0.05, 0.2, 0.9
	return c
}

// smallDnCNN is an unconstrained one.
func smallDnCNN() Config {
	c := smallConfig()
	c.Family, c.Constraint, c.Integrator = weights.FamilyDnCNN, Free, ""
	return c
}

func newTestAveraged(t testing.TB, dev backend.Device, c Config) *averaged {
	require.NoError(t, c.Check())
	n, err := newAveraged(dev, c)
	require.NoError(t, err)
	t.Cleanup(n.release)
	require.NoError(t, n.initialise(newGenerator(c.Seed)))
	return n
}

// gaussianBuffer is a buffer of normal numbers.
func gaussianBuffer(t testing.TB, dev backend.Device, s backend.Shape, seed uint64) backend.Buffer {
	b, err := dev.Alloc(s)
	require.NoError(t, err)
	require.NoError(t, dev.Gaussian(b, seed, 0, 1))
	return b
}

func downloaded(t testing.TB, dev backend.Device, b backend.Buffer) []float32 {
	x := make([]float32, b.Shape().Len())
	require.NoError(t, dev.Download(x, b))
	return x
}

// explicitTableaux are the integrators that can be trained, and one of four stages all of
// whose coefficients are different from zero.
func explicitTableaux() []rungekutta.Tableau {
	full := rungekutta.Tableau{
		Name: "full",
		A:    [][]float64{{0, 0, 0, 0}, {0.3, 0, 0, 0}, {-0.2, 0.7, 0, 0}, {0.4, 0.1, -0.3, 0}},
		B:    []float64{0.1, 0.2, 0.3, 0.4},
	}
	idle := rungekutta.Tableau{Name: "idle", A: [][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0.5, 0}}, B: []float64{0.25, 0, 0.75}}
	return []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.SSPRK3(), rungekutta.Kutta3(), full, idle}
}

// TestFlowGradients compares the gradient along random directions with central
// differences, in float64 throughout: what is perturbed is on the device.
func TestFlowGradients(t *testing.T) {
	leaveFloat64(t)
	dev := reference(t)
	for _, tableau := range explicitTableaux() {
		for _, limit := range []int64{1 << 30, 0} {
			t.Run(fmt.Sprintf("%s/%d", tableau.Name, limit), func(t *testing.T) {
				c := smallConfig()
				c.ActivationMemory = limit
				n := newTestAveraged(t, dev, c)
				n.tableau = tableau
				f := n.flow
				for i, b := range f.blocks {
					b.steps, b.step = i+1, float32(0.7/float64(i+1))
					b.edge = nil // TestEdges
				}
				q := &devicequeue.Queue{Dev: dev}
				shape := c.batchShape()
				x, r := gaussianBuffer(t, dev, shape, 1), gaussianBuffer(t, dev, shape, 2)
				out, err := dev.Alloc(shape)
				require.NoError(t, err)
				value := func() float64 {
					require.NoError(t, f.forward(t.Context(), out, x))
					var sum [1]float64
					q.Reduce(sum[:], backend.Reduction{Kind: backend.Dot, X: out, Y: r})
					require.NoError(t, q.Err)
					return sum[0]
				}
				require.NoError(t, n.zeroGradients())
				value()
				require.NoError(t, f.backward(t.Context(), r))
				for i, b := range f.blocks {
					const step = 0x1p-20
					// The filter.
					v := gaussianBuffer(t, dev, b.upload.Shape(), uint64(10+i))
					moved, err := dev.Alloc(b.upload.Shape())
					require.NoError(t, err)
					at := func(by float32) float64 {
						q.Combine(moved, backend.Term{A: 1, X: b.upload}, backend.Term{A: by, X: v})
						q.UpdateFilter(b.filter, moved)
						return value()
					}
					want := (at(step) - at(-step)) / (2 * step)
					at(0)
					var got [1]float64
					q.Reduce(got[:], backend.Reduction{Kind: backend.Dot, X: b.dw, Y: v})
					require.NoError(t, q.Err)
					require.InEpsilon(t, want, got[0], 1e-6, "weights of block %d", i)

					// The bias; its gradient on the device lacks the factor −step.
					v = gaussianBuffer(t, dev, b.bias.Shape(), uint64(20+i))
					at = func(by float32) float64 {
						q.Combine(b.bias, backend.Term{A: 1, X: b.bias}, backend.Term{A: by, X: v})
						y := value()
						q.Combine(b.bias, backend.Term{A: 1, X: b.bias}, backend.Term{A: -by, X: v})
						return y
					}
					want = (at(step) - at(-step)) / (2 * step)
					q.Reduce(got[:], backend.Reduction{Kind: backend.Dot, X: b.db, Y: v})
					require.NoError(t, q.Err)
					require.InEpsilon(t, want, -float64(b.step)*got[0], 1e-6, "bias of block %d", i)
				}
			})
		}
	}
}

// TestEdges: the ends of the network computed with few channels give the same.
func TestEdges(t *testing.T) {
	for _, blocks := range []int{1, 2, 3} {
		for _, steps := range []int{1, 2} {
			for _, limit := range []int64{1 << 30, 0} {
				var results, gradients [2][]float32
				for i := range 2 {
					dev := reference(t)
					c := smallConfig()
					c.Blocks, c.ActivationMemory = blocks, limit
					n := newTestAveraged(t, dev, c)
					for k, b := range n.flow.blocks {
						b.steps = steps
						require.Equal(t, k == 0 || k == blocks-1, b.edge != nil)
						if i == 1 && b.edge != nil {
							b.edge.free()
							b.edge = nil
						}
					}
					x, r := gaussianBuffer(t, dev, c.batchShape(), 1), gaussianBuffer(t, dev, c.batchShape(), 2)
					out, err := dev.Alloc(c.batchShape())
					require.NoError(t, err)
					require.NoError(t, n.zeroGradients())
					require.NoError(t, n.forward(t.Context(), out, x))
					require.NoError(t, n.backward(t.Context(), r))
					require.NoError(t, n.gradients())
					results[i] = downloaded(t, dev, out)
					for _, p := range n.parameters() {
						gradients[i] = append(gradients[i], p.gradient...)
					}
				}
				requireClose(t, results[1], results[0], 1e-7)
				requireClose(t, gradients[1], gradients[0], 1e-6)
			}
		}
	}
}

// TestRecomputation: without room for the activations the bits are the same.
func TestRecomputation(t *testing.T) {
	for _, integrator := range []string{"euler", "rk4"} {
		var seen [2][]float32
		for i, limit := range []int64{1 << 30, 0} {
			dev := processor(t)
			c := smallConfig()
			c.Integrator, c.ActivationMemory = integrator, limit
			n := newTestAveraged(t, dev, c)
			for _, b := range n.flow.blocks {
				b.steps = 3
			}
			require.Equal(t, limit > 0, n.bytes(c.batchShape()) <= limit)
			x, r := gaussianBuffer(t, dev, c.batchShape(), 1), gaussianBuffer(t, dev, c.batchShape(), 2)
			out, err := dev.Alloc(c.batchShape())
			require.NoError(t, err)
			for range 2 { // the second time with what the first has left behind
				require.NoError(t, n.zeroGradients())
				require.NoError(t, n.forward(t.Context(), out, x))
				require.NoError(t, n.backward(t.Context(), r))
			}
			require.NoError(t, n.gradients())
			seen[i] = downloaded(t, dev, out)
			for _, p := range n.parameters() {
				seen[i] = append(seen[i], p.gradient...)
			}
		}
		require.Equal(t, seen[0], seen[1], integrator)
	}
}

// TestMemoryIsReused: a pass takes no more memory than the one before.
func TestMemoryIsReused(t *testing.T) {
	dev := processor(t)
	for _, limit := range []int64{1 << 30, 0} {
		c := smallConfig()
		c.Integrator, c.ActivationMemory = "kutta3", limit
		n := newTestAveraged(t, dev, c)
		x := gaussianBuffer(t, dev, c.batchShape(), 1)
		out, err := dev.Alloc(c.batchShape())
		require.NoError(t, err)
		pass := func() int {
			require.NoError(t, n.forward(t.Context(), out, x))
			require.NoError(t, n.backward(t.Context(), x))
			all, lent := n.memory.Counts()
			require.Zero(t, lent, "all buffers are given back")
			return all
		}
		require.Equal(t, pass(), pass())
	}
}

// levelsConfig has a network with noise levels, at half the resolution.
func levelsConfig() Config {
	c := smallConfig()
	c.Levels, c.LossExponent = []float64{0.06, 0.1, 0.18}, 1.3
	c.Shuffle, c.Crop, c.Width = 2, 8, 14
	return c
}

// TestFlowAgreesWithDenoise: what is trained is what is used.
func TestFlowAgreesWithDenoise(t *testing.T) {
	leaveFloat64(t)
	for _, integrator := range []string{"euler", "heun", "rk4"} {
		for _, constraint := range []Constraint{Adaptive, Budget, "levels", "balls", "guided"} {
			dev := reference(t)
			c := smallConfig()
			c.Integrator, c.Constraint = integrator, constraint
			if constraint == "levels" || constraint == "balls" || constraint == "guided" {
				c = levelsConfig()
				c.Integrator = integrator
				if constraint != "levels" {
					c.Group = 7
				}
				if constraint == "guided" {
					c.Guide, c.Crop = &Guide{Widths: []int{5, 6, 4}, Rate: 1, LastRate: 1}, 10
				}
			}
			n := newTestAveraged(t, dev, c)
			for _, p := range n.parameters() {
				for i := range p.values {
					p.values[i] *= 1.7
				}
			}
			if constraint == "guided" { // which is not to come to guide.MaxFactor
				for i := range n.guided.out.weights.values {
					n.guided.out.weights.values[i] *= 1e-3
				}
			}
			require.NoError(t, n.update())
			require.NoError(t, n.tune(0.1))
			if constraint == Adaptive {
				require.Greater(t, n.flow.blocks[0].steps, 1)
			}
			x := gaussianBuffer(t, dev, c.batchShape(), 1)
			out, err := dev.Alloc(c.batchShape())
			require.NoError(t, err)
			require.NoError(t, n.forward(t.Context(), out, x))
			d, err := n.denoiser(t.Context(), n.effective(), 0.1)
			require.NoError(t, err)
			want, err := dev.Alloc(c.batchShape())
			require.NoError(t, err)
			require.NoError(t, guidedApply(t.Context(), d, want, x, 0.1))
			d.Free()
			limit := 1e-6
			if constraint == "guided" { // whose factors come from a table in use
				limit = 1e-5
			}
			requireClose(t, downloaded(t, dev, want), downloaded(t, dev, out), limit)
		}
	}
}

// requireClose compares in the Euclidean norm.
func requireClose(t testing.TB, want, got []float32, relative float64) {
	t.Helper()
	require.Len(t, got, len(want))
	size, difference := 0.0, 0.0
	for i, v := range want {
		size += float64(v) * float64(v)
		difference += (float64(v) - float64(got[i])) * (float64(v) - float64(got[i]))
	}
	require.Greater(t, size, 0.0)
	require.LessOrEqual(t, math.Sqrt(difference/size), relative)
}

func TestFlowStopsWithItsContext(t *testing.T) {
	dev := processor(t)
	c := smallConfig()
	n := newTestAveraged(t, dev, c)
	x := gaussianBuffer(t, dev, c.batchShape(), 1)
	out, err := dev.Alloc(c.batchShape())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, n.forward(ctx, out, x))
	cancel()
	require.ErrorIs(t, n.backward(ctx, x), context.Canceled)
	require.ErrorIs(t, n.forward(ctx, out, x), context.Canceled)
	require.NoError(t, n.forward(t.Context(), out, x))
	require.NoError(t, n.backward(t.Context(), x))
}
