package pnp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
)

var (
	accelerations = []Acceleration{Plain, Momentum, Halpern, Anderson}
	dataSteps     = []DataStep{GradientStep, ProximalStep}
)

// line makes T, except for the step towards the measurements of an element that stays 0, a map
// f of the second element alone.
func line(t *testing.T, dev backend.Device, alpha float64, f func(x float64) float64) (y backend.Buffer, k operator.Linear, phi Denoiser) {
	y = upload(t, dev, 1, 2, []float32{0, 0})
	phi = function{dev, alpha, true, func(x []float32) []float32 {
		x[1] = float32(f(float64(x[1])))
		return x
	}}
	return y, diagonal{dev, 1, 2, []float32{1, 0}}, phi
}

func TestAccelerationsReachTheKnownFixedPoint(t *testing.T) {
	dev := newDevice(t)
	const h, w, c = 5, 7, 0.3
	k := diagonal{dev, h, w, random(1, h*w)}
	data := random(2, h*w)
	y := upload(t, dev, h, w, data)
	for _, step := range dataSteps {
		for _, a := range accelerations {
			tolerance, near := 1e-7, 3e-5
			if a == Halpern {
				tolerance, near = 2e-4, 5e-3 // its residual falls as 1/k
			}
			x, report, err := Solve(t.Context(), dev, y, k, shrink(dev, c), Options{
				DataStep: step, Acceleration: a, Constraint: Unconstrained, Tolerance: tolerance, MaxIterations: 200000})
			require.NoError(t, err)
			require.True(t, report.Converged, "data step %d, acceleration %d", step, a)
			require.Less(t, report.Relative, tolerance*1.001)
			tau := report.Certificate.Step
			for i, v := range download(t, dev, x) {
				d := float64(k.d[i])
				want := tau * d * float64(data[i]) / (c + tau*d*d)
				if step == ProximalStep {
					// x(1 + c)(1 + τd²) = x + τdy.
					want = tau * d * float64(data[i]) / ((1+c)*(1+tau*d*d) - 1)
				}
				require.InDelta(t, want, float64(v), near, "data step %d, acceleration %d", step, a)
			}
			x.Free()
		}
	}
}

// Lieder's bound is attained, at any iteration k that one chooses beforehand.
func TestHalpernAttainsItsBound(t *testing.T) {
	dev := newDevice(t)
	for _, k := range []int{0, 1, 2, 9, 50} {
		c := 2 / float64(k+1) // x₀ = 1
		y, operator, phi := line(t, dev, 1, func(x float64) float64 {
			if x < c/2-1e-6 {
				return -x
			}
			return x - c
		})
		x, report, err := Solve(t.Context(), dev, y, operator, phi, Options{
			Start: upload(t, dev, 1, 2, []float32{0, 1}), Constraint: Unconstrained, Acceleration: Halpern, Tolerance: -1, MaxIterations: k + 1})
		require.NoError(t, err)
		x.Free()
		bound := report.Certificate.ResidualBound(k, 1, report.Errors[k])
		require.InDelta(t, 2/float64(k+1), bound, 1e-12)
		require.InDelta(t, bound, report.Residuals[k], 1e-5, "k = %d", k)
	}
}

// A map that is nonexpansive and no more: the plain iteration runs in a circle, Halpern's
// converges to the nearest fixed point.
func TestHalpernNeedsNoMoreThanNonexpansive(t *testing.T) {
	dev := newDevice(t)
	const h, w = 3, 4
	k := diagonal{dev, h, w, make([]float32, h*w)}
	k.d[0] = 1e-4
	y := upload(t, dev, h, w, make([]float32, h*w))
	start := upload(t, dev, h, w, random(4, h*w))
	for _, a := range []Acceleration{Plain, Halpern} {
		x, report, err := Solve(t.Context(), dev, y, k, turn(dev, 1, 2), Options{
			Start: start, Step: 1, Constraint: Unconstrained, Acceleration: a, Tolerance: -1, MaxIterations: 400})
		require.NoError(t, err)
		x.Free()
		last := report.Residuals[len(report.Residuals)-1]
		if a == Plain {
			require.False(t, report.Certificate.Converges())
			require.Greater(t, last, 0.99*report.Residuals[0])
			continue
		}
		require.True(t, report.Certificate.Converges())
		require.Contains(t, report.Certificate.String(), "Lieder")
		distance := 0.0
		for _, v := range download(t, dev, start) {
			distance += float64(v) * float64(v)
		}
		require.LessOrEqual(t, last, report.Certificate.ResidualBound(399, math.Sqrt(distance), 0))
	}
}

// The bound of Krasnoselskii and Mann is attained by rotations up to a factor that tends to
// 1/√e: of ‖x_k − Tx_k‖² = s(1 − s(1−α)/α)ᵏ the largest value over s.
func TestPlainNearlyAttainsItsBound(t *testing.T) {
	dev := newDevice(t)
	const h, w, alpha, last = 4, 6, 0.8, 20
	s := alpha / ((1 - alpha) * (last + 1))
	k := diagonal{dev, h, w, make([]float32, h*w)}
	k.d[0] = 1e-4
	x0 := random(8, h*w)
	x, report, err := Solve(t.Context(), dev, upload(t, dev, h, w, make([]float32, h*w)), k,
		turn(dev, alpha, 2*math.Asin(math.Sqrt(s)/(2*alpha))), Options{
			Start: upload(t, dev, h, w, x0), Step: 1, Constraint: Unconstrained, Tolerance: -1, MaxIterations: last + 1})
	require.NoError(t, err)
	x.Free()
	distance := 0.0
	for _, v := range x0 {
		distance += float64(v) * float64(v)
	}
	bound := report.Certificate.ResidualBound(last, math.Sqrt(distance), 0)
	require.LessOrEqual(t, report.Residuals[last], bound)
	require.Greater(t, report.Residuals[last], 0.6*bound)
}

// An affine map whose linear part has few eigenvalues is solved in about as many steps.
func TestAndersonSolvesAffineMaps(t *testing.T) {
	dev := newDevice(t)
	const h, w = 8, 8
	d := make([]float32, h*w)
	for i := range d {
		d[i] = []float32{1, 0.3, 0.1, 0.05}[i%4]
	}
	k := diagonal{dev, h, w, d}
	y := upload(t, dev, h, w, random(2, h*w))
	steps := map[Acceleration]int{}
	for _, a := range []Acceleration{Plain, Anderson} {
		x, report, err := Solve(t.Context(), dev, y, k, shrink(dev, 1e-3), Options{
			Constraint: Unconstrained, Acceleration: a, Memory: 4, Tolerance: 1e-5, MaxIterations: 100000})
		require.NoError(t, err)
		require.True(t, report.Converged)
		require.Empty(t, report.Rejected)
		steps[a] = report.Iterations
		x.Free()
	}
	require.Less(t, steps[Anderson], 20)
	require.Greater(t, steps[Plain], 400)
}

// contraction is a denoiser with a constant below 1.
type contraction struct {
	function
	q      float64
	proven bool
}

func (c contraction) Contraction() (float64, bool) { return c.q, c.proven }

func TestErrorBar(t *testing.T) {
	dev := newDevice(t)
	// T halves the distance to 0 on the line, and the bar is attained.
	y, k, phi := line(t, dev, 0.75, func(x float64) float64 { return x / 2 })
	start := upload(t, dev, 1, 2, []float32{0, 1})
	for _, a := range accelerations {
		for n := 1; n < 8; n++ {
			x, report, err := Solve(t.Context(), dev, y, k, contraction{phi.(function), 0.5, true}, Options{
				Start: start, Constraint: Unconstrained, Acceleration: a, Tolerance: -1, MaxIterations: n})
			require.NoError(t, err)
			require.True(t, report.Certificate.FixedPointExists(), "Banach")
			require.Contains(t, report.Certificate.String(), "unique")
			distance := math.Abs(float64(download(t, dev, x)[1]))
			require.LessOrEqual(t, distance, report.ErrorBar+1e-7, "acceleration %d, %d iterations", a, n)
			if distance > 1e-3 {
				require.InDelta(t, distance, report.ErrorBar, 1e-6)
			}
			x.Free()
		}
	}
	for name, phi := range map[string]Denoiser{
		"no proof":          contraction{phi.(function), 0.5, false},
		"not a contraction": contraction{phi.(function), 1, true},
		"nothing said":      phi,
	} {
		x, report, err := Solve(t.Context(), dev, y, k, phi, Options{Start: start, Constraint: Unconstrained, MaxIterations: 3})
		require.NoError(t, err)
		require.True(t, math.IsInf(report.ErrorBar, 1), name)
		require.False(t, report.Certificate.FixedPointExists())
		x.Free()
	}
	// With errors of the denoiser the bar still holds.
	x, report, err := Solve(t.Context(), dev, y, k, inexactContraction{contraction{phi.(function), 0.5, true}}, Options{
		Start: start, Constraint: Unconstrained, Tolerance: -1, MaxIterations: 6})
	require.NoError(t, err)
	require.LessOrEqual(t, math.Abs(float64(download(t, dev, x)[1])), report.ErrorBar)
	x.Free()
}

// inexactContraction moves the second element as far up as it may.
type inexactContraction struct{ contraction }

func (c inexactContraction) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (float64, error) {
	return maxError, onHost(c.dev, dst, src, func(x []float32) []float32 {
		x = c.f(x)
		x[1] += float32(0.999 * maxError)
		return x
	})
}

// What the comment on Options.Memory says is enough, and one image less is not; whatever
// happens, all is given back.
func TestMemoryOfAccelerations(t *testing.T) {
	const h, w = 8, 8
	for _, step := range dataSteps {
		for _, c := range []struct {
			a      Acceleration
			memory int
			images int
		}{{Plain, 0, 4}, {Momentum, 0, 5}, {Halpern, 0, 5}, {Anderson, 1, 6}, {Anderson, 5, 14}, {Anderson, 0, 4 + 2*DefaultMemory}} {
			images := c.images
			if step == ProximalStep {
				images += 2
			}
			for _, room := range []int{images, images - 1} {
				dev := newDevice(t, cpu.MemoryLimit(int64((room+1)*4*h*w)))
				k := diagonal{dev, h, w, random(5, h*w)}
				y := upload(t, dev, h, w, random(1, h*w))
				opt := Options{DataStep: step, Acceleration: c.a, Memory: c.memory, Tolerance: -1, MaxIterations: 30}
				refuse := errors.New("no")
				for i := range 3 {
					x, _, err := Solve(t.Context(), dev, y, k, shrink(dev, 1), opt)
					if room < images {
						require.ErrorIs(t, err, backend.ErrOutOfMemory, "%+v", c)
						continue
					}
					require.NoError(t, err, "%+v, run %d", c, i)
					x.Free()
					stopping := opt
					stopping.Progress = func(p backend.Progress) error {
						if p.Iteration == 7 {
							return refuse
						}
						return nil
					}
					_, _, err = Solve(t.Context(), dev, y, k, shrink(dev, 1), stopping)
					require.ErrorIs(t, err, refuse)
				}
				// Nothing is left behind: there is room for all of it again.
				for range room {
					upload(t, dev, h, w, make([]float32, h*w))
				}
			}
		}
	}
}

func TestAutomaticMemory(t *testing.T) {
	require.Equal(t, DefaultMemory, AutomaticMemory(481*321*3))
	require.Equal(t, 1, AutomaticMemory(12e6*3))
	require.Zero(t, AutomaticMemory(24e6*3))
	require.Zero(t, AutomaticMemory(math.MaxInt))
	for n := 1; n < 1e8; n *= 3 {
		m := AutomaticMemory(n)
		require.LessOrEqual(t, 8*n*m, memoryBudget)
	}
}

func TestSameBitsForAnyNumberOfThreads(t *testing.T) {
	const h, w = 40, 37
	for _, step := range dataSteps {
		for _, a := range accelerations {
			var first []float32
			for _, threads := range []int{1, 3} {
				dev := newDevice(t, cpu.Threads(threads))
				k := diagonal{dev, h, w, random(1, h*w)}
				x, _, err := Solve(t.Context(), dev, upload(t, dev, h, w, random(2, h*w)), k, turn(dev, 0.7, 1), Options{
					DataStep: step, Acceleration: a, Tolerance: -1, MaxIterations: 12})
				require.NoError(t, err)
				out := download(t, dev, x)
				if first == nil {
					first = out
				}
				require.Equal(t, first, out)
			}
		}
	}
}

func TestEveryAccelerationEndsWithItsContext(t *testing.T) {
	dev := newDevice(t)
	k := diagonal{dev, 2, 2, random(5, 4)}
	y := upload(t, dev, 2, 2, random(1, 4))
	for _, step := range dataSteps {
		for _, a := range accelerations {
			ctx, cancel := context.WithCancel(t.Context())
			_, _, err := Solve(ctx, dev, y, k, shrink(dev, 1e-3), Options{
				DataStep: step, Acceleration: a, Tolerance: -1, Progress: func(p backend.Progress) error {
					if p.Iteration == 3 {
						cancel()
					}
					require.LessOrEqual(t, p.Iteration, 3)
					return nil
				}})
			require.ErrorIs(t, err, context.Canceled)
			cancel()
		}
	}
}

func TestTakenStartIsFreed(t *testing.T) {
	dev := newDevice(t)
	const h, w = 4, 5
	k := diagonal{dev, h, w, random(5, h*w)}
	y := upload(t, dev, h, w, random(1, h*w))
	for _, take := range []bool{true, false} {
		for _, step := range []float64{0, 1e9} { // a run, and a refusal
			start := upload(t, dev, h, w, random(2, h*w))
			x, _, err := Solve(t.Context(), dev, y, k, shrink(dev, 1), Options{Start: start, TakeStart: take, Step: step, MaxIterations: 2})
			if step == 0 {
				require.NoError(t, err)
				x.Free()
			} else {
				require.ErrorContains(t, err, "step")
			}
			err = dev.Fill(start, 0)
			if take {
				require.ErrorIs(t, err, backend.ErrFreed)
			} else {
				require.NoError(t, err)
				start.Free()
			}
		}
	}
}
