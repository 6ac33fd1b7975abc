package denoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// descend runs the inner iterations on a quadratic function with the given Hessian
// eigenvalues and minimum 0, in their coordinates, and returns the end.
func descend(list []inner, eigenvalues, start []float64) []float64 {
	z := append([]float64{}, start...)
	x := append([]float64{}, start...)
	for _, it := range list {
		for i, l := range eigenvalues {
			y := (1-it.beta)*z[i] + it.beta*x[i]
			g := l * y
			x[i] = y - it.q*g
			z[i] = (1-it.qDelta)*z[i] + it.qDelta*(y-g)
		}
	}
	return z
}

// The factor is a bound for quadratic functions, far better than plain gradient
// descent's where κ is large.
func TestInnerIterationsReachTheirFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kappa := math.Exp(rapid.Float64Range(0, 6).Draw(t, "log κ"))
		want := math.Exp(-rapid.Float64Range(0, 14).Draw(t, "log error"))
		list, factor := innerIterations(kappa, 1, want)
		require.LessOrEqual(t, factor, want)
		n := rapid.IntRange(1, 8).Draw(t, "n")
		eigenvalues := rapid.SliceOfN(rapid.Float64Range(1, kappa), n, n).Draw(t, "eigenvalues")
		eigenvalues[0] = 1
		start := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(t, "start")
		require.LessOrEqual(t, norm2(descend(list, eigenvalues, start)), factor*norm2(start)*(1+1e-9)+1e-15)
	})
	list, _ := innerIterations(100, 1, 1e-5)
	plain := math.Log(1e-5) / math.Log(99./101)
	require.Less(t, float64(len(list)), plain/4)
	list, factor := innerIterations(1, 1, 0)
	require.LessOrEqual(t, factor, minFactor)
	require.LessOrEqual(t, len(list), 3)
	list, factor = innerIterations(50, 0, 0)
	require.Empty(t, list, "nothing to go is nothing to do")
	require.Equal(t, 1.0, factor)
	list, _ = innerIterations(50, 1, math.NaN())
	require.NotEmpty(t, list)
}

// The same for functions that are not quadratic, one unit of the network: a scalar
// with kinks.
func TestInnerIterationsOnKinks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 2000 {
		// f'(v) = v − c + Σ a²σ(v·a + b)/a: slopes from 1 to κ, changing at kinks.
		c, kappa := rng.NormFloat64(), 1.0
		var a, b [4]float64
		for i := range a {
			a[i], b[i] = rng.NormFloat64(), rng.NormFloat64()
			kappa += a[i] * a[i]
		}
		gradient := func(v float64) float64 {
			g := v - c
			for i := range a {
				g += a[i] * activation.LeakyReLU(0.01).Of(a[i]*v+b[i])
			}
			return g
		}
		lo, hi := -100.0, 100.0
		for range 200 {
			if mid := (lo + hi) / 2; gradient(mid) > 0 {
				hi = mid
			} else {
				lo = mid
			}
		}
		list, factor := innerIterations(kappa, 1, math.Exp(-10*rng.Float64()))
		start := 3 * rng.NormFloat64()
		z, x := start, start
		for _, it := range list {
			y := (1-it.beta)*z + it.beta*x
			g := gradient(y)
			x, z = y-it.q*g, (1-it.qDelta)*z+it.qDelta*(y-g)
		}
		require.LessOrEqual(t, math.Abs(z-lo), factor*math.Abs(start-lo)*(1+1e-9)+1e-13)
	}
}

// The bound that ApplyWithin returns holds, and follows what is asked for.
func TestApplyWithinKeepsItsBound(t *testing.T) {
	exact := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, exact.Close()) }()
	devices := []backend.Device{newCPU(t), exact}
	if testing.Short() { // the other is the same code on every processor: go test ./... has it
		devices = devices[:1]
	}
	s := backend.Image(3, 9, 8)
	x := randomImage(3, s)
	for _, c := range []struct {
		a    Architecture
		norm float64
	}{{Architecture{}, 0.7}, {Architecture{}, 3}, {Architecture{Width: 6, Activation: activation.Balls(), Group: 2}, 3}} {
		c.a.Integrator, c.a.Blocks = rungekutta.BackwardEuler(), 2
		m := smallModel(t, 6, c.a, c.norm)
		want := newReference(t, m, []int{1, 1}, s.H, s.W).apply(x)
		for _, dev := range devices {
			n := certified(t, dev, m)
			src, dst := upload(t, dev, s, x), upload(t, dev, s, x)
			last := 0
			for _, maxError := range []float64{1, 0.1, 1e-2, 1e-4} {
				bound, err := n.ApplyWithin(t.Context(), dst, src, maxError)
				require.NoError(t, err)
				require.LessOrEqual(t, bound, maxError)
				e := between(download(t, dev, dst), want)
				require.LessOrEqual(t, e, bound+2e-6*norm2(x))
				p, ok := n.body.(*proximal)
				require.True(t, ok)
				made, _, err := p.plan(src, src.Shape(), maxError)
				require.NoError(t, err)
				count := len(made.(*proximalPlan).reach)
				require.Greater(t, count, last, "smaller errors take more iterations")
				last = count
			}
			bound, err := n.ApplyWithin(t.Context(), dst, src, 0)
			require.NoError(t, err)
			require.Greater(t, bound, 0.0, "float32 allows no better")
			require.Less(t, bound, 1e-4)
		}
	}
	n := certified(t, newCPU(t), smallModel(t, 6, Architecture{Integrator: rungekutta.BackwardEuler()}, 1))
	x[5] = float32(math.NaN())
	src, dst := upload(t, n.dev, s, x), upload(t, n.dev, s, x)
	require.ErrorIs(t, n.Apply(t.Context(), dst, src), backend.ErrArgument)
}

// Explicit networks are formulas: no error.
func TestApplyWithinOfExplicitNetworks(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 6, Architecture{}, 1))
	s := backend.Image(3, 9, 8)
	src, dst := upload(t, dev, s, randomImage(3, s)), upload(t, dev, s, randomImage(4, s))
	bound, err := n.ApplyWithin(t.Context(), dst, src, 0)
	require.NoError(t, err)
	require.Zero(t, bound)
	require.Equal(t, denoised(t, n, s, randomImage(3, s)), download(t, dev, dst))
}

// One block of backward Euler is a proximal map, so firmly nonexpansive: ‖Φx − Φy‖² ≤
// ⟨Φx − Φy, x − y⟩; also where Euler's method would take many steps.
func TestBackwardEulerIsFirmlyNonexpansive(t *testing.T) {
	dev := newCPU(t)
	for _, activation := range []activation.Function{activation.LeakyReLU(0.01), activation.Balls()} {
		m := smallModel(t, 7, Architecture{Integrator: rungekutta.BackwardEuler(), Blocks: 1, Activation: activation}, 6)
		n := certified(t, dev, m)
		require.Equal(t, []int{1}, stepsOf(n.Certificate()))
		s := backend.Image(3, 8, 8)
		pairs := uint64(20)
		if testing.Short() { // long under emulation; go test ./... has all
			pairs = 6
		}
		for seed := range pairs {
			x, y := randomImage(seed, s), randomImage(seed+100, s)
			fx, fy := denoised(t, n, s, x), denoised(t, n, s, y)
			inner := 0.0
			for i := range x {
				inner += float64(fx[i]-fy[i]) * float64(x[i]-y[i])
			}
			d := between(fx, fy)
			require.LessOrEqual(t, d*d, inner+1e-3*d)
			require.Greater(t, inner, 0.0)
		}
	}
}
