package pnp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/operator"
)

// offBy is a denoiser that is off by as much as it says, in a direction that makes the most of it.
type offBy struct {
	function
	size float64
	// toward returns a direction of any length, given T(x).
	toward func(x []float32) []float64
}

func (r offBy) Apply(_ context.Context, dst, src backend.Buffer) error {
	return onHost(r.dev, dst, src, func(x []float32) []float32 {
		y := r.f(x)
		direction, norm := r.toward(y), 0.0
		for _, v := range direction {
			norm = math.Hypot(norm, v)
		}
		for i, v := range direction {
			y[i] += float32(0.999 * r.size * v / norm)
		}
		return y
	})
}

func (r offBy) Rounding(context.Context, float64, backend.Shape) (float64, error) {
	return r.size, nil
}

// rounded is a diagonal operator that says how it rounds: it makes one product for every sample.
type rounded struct{ diagonal }

func (r rounded) Rounding() (float64, error) {
	norm, _ := r.Norm()
	return norm * unit, nil
}

func ones(n int) []float32 {
	d := make([]float32, n)
	for i := range d {
		d[i] = 1
	}
	return d
}

// An error that stays, in whatever direction, keeps the smallest residual from going to 0, but
// not from coming down to Floor, and not above Bound on the way there. The rotation makes the
// most of averagedness, with a fixed point at grey.
func TestResidualsComeDownToTheFloor(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer func() { require.NoError(t, dev.Close()) }()
	const side, alpha, angle = 8, 0.9, 0.05
	shape := backend.Image(1, side, side)
	rng := rand.New(rand.NewPCG(1, 3))
	centred := func(f function) func(x []float32) []float32 { // about grey
		return func(x []float32) []float32 {
			for i := range x {
				x[i] -= 0.5
			}
			x = f.f(x)
			for i := range x {
				x[i] += 0.5
			}
			return x
		}
	}
	phi := turn(dev, alpha, angle)
	phi.f = centred(phi)
	for name, toward := range map[string]func(x []float32) []float64{
		"outwards": func(x []float32) []float64 {
			d := make([]float64, len(x))
			for i, v := range x {
				d[i] = float64(v) - 0.5 + 1e-9
			}
			return d
		},
		"anywhere": func(x []float32) []float64 {
			d := make([]float64, len(x))
			for i := range d {
				d[i] = rng.NormFloat64()
			}
			return d
		},
		"one way": func(x []float32) []float64 { d := make([]float64, len(x)); d[0] = 1; return d },
	} {
		for _, size := range []float64{1e-5, 1e-3} {
			for _, how := range []Acceleration{Plain, Anderson, Momentum, Halpern} {
				start := upload(t, dev, shape.H, shape.W, ones(shape.Len()))
				y := upload(t, dev, shape.H, shape.W, make([]float32, shape.Len()))
				k := rounded{diagonal{dev, side, side, make([]float32, shape.Len())}}
				k.d[0] = 1e-3 // no data to speak of
				x, report, err := Solve(t.Context(), dev, y, k, offBy{phi, size, toward}, Options{
					Start: start, MaxIterations: 200, Tolerance: -1, Acceleration: how, Step: 1,
				})
				require.NoError(t, err)
				x.Free()
				start.Free()
				require.GreaterOrEqual(t, report.Rounding, size)
				require.Less(t, report.Rounding, size+1e-4, "what the other steps add")
				least := math.Inf(1)
				for n, r := range report.Residuals {
					least = min(least, r)
					if how == Halpern {
						least = r
					}
					require.LessOrEqual(t, least, report.Bound(n)+2*report.Rounding, "%s, %v, %v, iteration %d", name, size, how, n)
				}
				floor := report.Floor()
				require.Greater(t, floor, size)
				require.False(t, math.IsInf(floor, 1))
				if how != Halpern { // of which only the best iterate comes to it
					require.LessOrEqual(t, least, max(floor, report.Bound(len(report.Residuals)-1))+2*report.Rounding, "%s, %v, %v", name, size, how)
				}
				require.Zero(t, max(0, report.Excess))
				require.True(t, report.ConvergenceProven())
			}
		}
	}
}

// The formula of Floor by hand, and what has none.
func TestFloor(t *testing.T) {
	c := Certificate{Proven: true, Averagedness: 0.75, Constraint: UnitBox, Contraction: 1}
	require.InDelta(t, math.Sqrt(3*(2*10*1e-4+1e-8)), c.Floor(1e-4, 7, 100), 1e-12)
	require.True(t, math.IsInf(c.Floor(math.Inf(1), 7, 100), 1))
	require.True(t, math.IsInf(c.Floor(math.NaN(), 7, 100), 1))
	c.Peak = 3 // the box is three times as wide
	require.InDelta(t, math.Sqrt(3*(2*30*1e-4+1e-8)), c.Floor(1e-4, 7, 100), 1e-12)
	c.Acceleration = Halpern
	for _, e := range []float64{1e-4, 3, 100} { // the least over all iterations, whose number is whole
		least := math.Inf(1)
		for k := range 1000 {
			least = min(least, 2*7/float64(k+1)+float64(k+1)*e)
		}
		require.GreaterOrEqual(t, c.Floor(e, 7, 100), least*(1-1e-12))
		require.LessOrEqual(t, c.Floor(e, 7, 100), 1.1*least)
	}
	require.Zero(t, c.Floor(0, 7, 100))
	require.True(t, math.IsInf(c.Floor(1e-4, math.Inf(1), 100), 1))
	c.Acceleration, c.Contraction = Plain, 0.98
	require.InDelta(t, 99*1e-4, c.Floor(1e-4, 7, 100), 1e-12)
	c.Constraint, c.Contraction = Unconstrained, 1
	require.True(t, math.IsInf(c.Floor(1e-4, 7, 100), 1))
	c = Certificate{Constraint: UnitBox}
	require.True(t, math.IsInf(c.Floor(0, 7, 100), 1), "nothing is proven")
}

// Nothing is claimed where an operator or a denoiser does not say how it rounds, and where it is
// told that rounding is as large as the box.
func TestConvergenceIsProvenOfWhatIsComputed(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer func() { require.NoError(t, dev.Close()) }()
	shape := backend.Image(1, 4, 4)
	k := diagonal{dev, 4, 4, ones(16)}
	still := func(x []float32) []float64 { d := make([]float64, len(x)); d[0] = 1; return d }
	for _, c := range []struct {
		k      operator.Linear
		phi    Denoiser
		proven bool
	}{
		{k, shrink(dev, 1), false},
		{rounded{k}, shrink(dev, 1), false},
		{k, offBy{shrink(dev, 1), 1e-6, still}, false},
		{rounded{k}, offBy{shrink(dev, 1), 1e-6, still}, true},
		{rounded{k}, offBy{shrink(dev, 1), 10, still}, false},
		{rounded{k}, offBy{shrink(dev, 1), math.Inf(1), func(x []float32) []float64 { return make([]float64, len(x)) }}, false},
	} {
		if r, ok := c.phi.(offBy); ok && math.IsInf(r.size, 1) {
			continue // cannot be computed
		}
		y := upload(t, dev, shape.H, shape.W, ones(16))
		x, report, err := Solve(t.Context(), dev, y, c.k, c.phi, Options{MaxIterations: 30})
		require.NoError(t, err)
		x.Free()
		require.True(t, report.Certificate.Converges())
		require.Equal(t, c.proven, report.ConvergenceProven(), "%+v", c)
	}
}

// The data steps are as far from those of float64 as is said, at most: the gradient step, and
// the proximal one by conjugate gradients, of which the residual that the iteration computes
// drifts away from the true one.
func TestDataStepsAreWithinTheirRounding(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer func() { require.NoError(t, dev.Close()) }()
	const side = 16
	shape := backend.Image(1, side, side)
	rng := rand.New(rand.NewPCG(4, 4))
	random := func() []float32 {
		x := make([]float32, shape.Len())
		for i := range x {
			x[i] = rng.Float32()
		}
		return x
	}
	for _, step := range []DataStep{GradientStep, ProximalStep} {
		for _, tau := range []float64{0.5, 1.5, 100, 1e4} {
			if step == GradientStep && tau >= 2 {
				continue
			}
			d, y := random(), random()
			k := rounded{diagonal{dev, side, side, d}}
			norm, _ := k.Norm()
			tau /= norm * norm
			phi := offBy{shrink(dev, 0.5), 1e-6, func(x []float32) []float64 { v := make([]float64, len(x)); v[0] = 1; return v }}
			it, err := newIteration(dev, upload(t, dev, shape.H, shape.W, y), k, phi, Options{DataStep: step, Step: tau})
			require.NoError(t, err)
			for range 4 {
				before := make([]float32, shape.Len())
				require.NoError(t, dev.Download(before, it.x))
				bound, err := it.approach(t.Context())
				require.NoError(t, err)
				moved := make([]float32, shape.Len())
				require.NoError(t, dev.Download(moved, it.moved))
				off := 0.0
				for i, x := range before {
					a, x, y := float64(d[i]), float64(x), float64(y[i])
					want := x - it.tau*a*(a*x-y)
					if step == ProximalStep {
						want = (x + it.tau*a*y) / (1 + it.tau*a*a)
					}
					off += (float64(moved[i]) - want) * (float64(moved[i]) - want)
				}
				require.LessOrEqual(t, math.Sqrt(off), bound+it.arithmetic.data, "%v, τ = %v", step, tau)
				if tau < 200 {
					require.Less(t, it.arithmetic.data, 0.1, "it says something")
				}
				_, _, err = it.step(t.Context())
				require.NoError(t, err)
				require.NoError(t, it.advance())
			}
			it.free()
		}
	}
}

// stuck is an inexact denoiser whose error cannot fall below a size, as that of an implicit step
// of a large condition.
type stuck struct{ offBy }

func (s stuck) ApplyWithin(ctx context.Context, dst, src backend.Buffer, _ float64) (float64, error) {
	return s.size, s.Apply(ctx, dst, src)
}

func (s stuck) Rounding(context.Context, float64, backend.Shape) (float64, error) { return 1e-7, nil }

// An inner error that does not fall any more is above a finite sum sooner or later, and ends the
// claim there.
func TestAnErrorThatDoesNotFallEndsTheClaim(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer func() { require.NoError(t, dev.Close()) }()
	shape := backend.Image(1, 4, 4)
	k := rounded{diagonal{dev, 4, 4, ones(16)}}
	phi := stuck{offBy{shrink(dev, 1), 1e-4, func(x []float32) []float64 { d := make([]float64, len(x)); d[0] = 1; return d }}}
	for n, proven := range map[int]bool{3: true, 900: false} {
		x, report, err := Solve(t.Context(), dev, upload(t, dev, shape.H, shape.W, ones(16)), k, phi, Options{MaxIterations: n, Tolerance: -1})
		require.NoError(t, err)
		x.Free()
		require.Equal(t, proven, report.Excess <= 0, "%d iterations: %v", n, report.Excess)
		require.Equal(t, proven, report.ConvergenceProven())
	}
}
