package inverse

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/tv"
)

const side = 4

// shrink is the denoiser x ↦ factor·x, for 0 ≤ factor < 1: (1−α)x + α(−x) with α = (1−factor)/2.
type shrink struct {
	dev    backend.Device
	factor float32
	err    error
}

func (s shrink) Apply(_ context.Context, dst, src backend.Buffer) error {
	if s.err != nil {
		return s.err
	}
	return s.dev.LinearCombination(dst, backend.Term{A: s.factor, X: src})
}

func (s shrink) Averagedness() (alpha float64, proven bool) { return (1 - float64(s.factor)) / 2, true }

// diagonal multiplies sample i by gains[i].
func diagonal(t require.TestingT, dev backend.Device, gains []float32) operator.Linear {
	multiply := func(dst, src []float32) error {
		for i, g := range gains {
			dst[i] = g * src[i]
		}
		return nil
	}
	norm := 0.0
	for _, g := range gains {
		norm = max(norm, math.Abs(float64(g)))
	}
	k, err := operator.FromHost(dev, operator.Host{
		DomainH: side, DomainW: side, RangeH: side, RangeW: side, Apply: multiply, Adjoint: multiply,
		Norm: norm, Reason: "the largest entry of a diagonal matrix",
	})
	require.NoError(t, err)
	return k
}

func buffer(t require.TestingT, dev backend.Device, pix []float32) backend.Buffer {
	b, err := imageplanes.Lend(dev, backend.Image(1, side, side), pix)
	require.NoError(t, err)
	return b
}

// TestSecondRunIsForTheTwicedPhotograph: for a diagonal K and a denoiser f·x both fixed points have a formula,
// x = fτdy/(1 − f + fτd²) at each sample, the second with 2y − Kx₁ for y. The result is the second.
func TestSecondRunIsForTheTwicedPhotograph(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.Float32Range(0.1, 1)
		gains, y := rapid.SliceOfN(sample, side*side, side*side).Draw(t, "d"), rapid.SliceOfN(sample, side*side, side*side).Draw(t, "y")
		f := rapid.Float32Range(0.1, 0.8).Draw(t, "f")
		k := diagonal(t, dev, gains)
		norm, _ := k.Norm()
		tau := 1 / (norm * norm)
		photograph, start := buffer(t, dev, y), buffer(t, dev, make([]float32, side*side))
		defer photograph.Free()
		defer start.Free()
		var report outcome.Report
		x, progress, err := Iteration{K: k, Y: photograph, Start: start, Phi: shrink{dev: dev, factor: f}, Tolerance: 1e-7}.
			Solve(context.Background(), dev, networks.Own, Options{Constraint: pnp.Unconstrained, Iterations: 2000}, &report)
		require.NoError(t, err)
		defer x.Free()
		require.NoError(t, progress.End())
		require.True(t, report.Certified)
		out := make([]float32, side*side)
		require.NoError(t, dev.Download(out, x))
		for i, g := range gains {
			d := float64(g)
			gain := float64(f) * tau * d / (1 - float64(f) + float64(f)*tau*d*d)
			once := gain * float64(y[i])
			twice := gain * (2*float64(y[i]) - d*once)
			require.InDelta(t, twice, out[i], 1e-4, "sample %d, after one run %v", i, once)
		}
	})
}

// TestRunsShareTheIterations: whatever the runs ask for, all together make no more iterations than were allowed, and
// a first run is repeated no more often than strength.MaxRepeats.
func TestRunsShareTheIterations(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		annealed, guided := rapid.Bool().Draw(t, "annealed"), rapid.Bool().Draw(t, "guided")
		phi := shrink{dev: dev, factor: 0.9}
		ones := make([]float32, side*side)
		for i := range ones {
			ones[i] = 1
		}
		photograph, start := buffer(t, dev, ones), buffer(t, dev, make([]float32, side*side))
		defer photograph.Free()
		defer start.Free()
		looks := 0
		run := Iteration{
			K: diagonal(t, dev, ones), Y: photograph, Start: start, Phi: phi, Tolerance: 1e-12,
			Retune: func(_ context.Context, _ backend.Buffer, left float64) (pnp.Denoiser, bool, error) {
				looks++
				require.GreaterOrEqual(t, left, 0.0)
				return phi, true, nil
			},
		}
		if guided {
			run.Freeze = func(context.Context, backend.Buffer) (pnp.Denoiser, error) { return phi, nil }
		}
		if annealed {
			run.Anneal = func(_ context.Context, _ backend.Buffer, steps int, _ func(int, float64) error) (backend.Buffer, int, error) {
				require.Less(t, steps, limit, "one is left for the run")
				return buffer(t, dev, append([]float32{}, ones...)), min(steps, strength.AnnealedSteps), nil
			}
		}
		var report outcome.Report
		x, _, err := run.Solve(context.Background(), dev, networks.Own, Options{Constraint: pnp.Unconstrained, Iterations: limit}, &report)
		require.NoError(t, err)
		x.Free()
		require.LessOrEqual(t, report.Iteration.Count, limit)
		require.LessOrEqual(t, looks, strength.MaxRepeats+1)
		require.Equal(t, limit > 1, looks > 0)
	})
}

// TestFailuresFreeBuffers: an error of any part is returned as it is, and no buffer stays on the device: a device with
// room for a few runs would have none after a hundred.
func TestFailuresFreeBuffers(t *testing.T) {
	const side = 64
	dev := cputest.Open(t, cpu.MemoryLimit(100*4*side*side))
	defer dev.Close()
	wrong := errors.New("it fails")
	same := func(dst, src []float32) error { copy(dst, src); return nil }
	k, err := operator.FromHost(dev, operator.Host{
		DomainH: side, DomainW: side, RangeH: side, RangeW: side, Apply: same, Adjoint: same, Norm: 1, Reason: "the identity",
	})
	require.NoError(t, err)
	phi := shrink{dev: dev, factor: 0.5}
	retune := func(err error) func(context.Context, backend.Buffer, float64) (pnp.Denoiser, bool, error) {
		return func(context.Context, backend.Buffer, float64) (pnp.Denoiser, bool, error) { return nil, false, err }
	}
	guides := 0
	for name, broken := range map[string]Iteration{
		"denoiser": {Phi: shrink{dev: dev, err: wrong}},
		"retuning": {Phi: phi, Retune: retune(wrong)},
		"guide":    {Phi: phi, Freeze: func(context.Context, backend.Buffer) (pnp.Denoiser, error) { return nil, wrong }},
		"guide of the second run": {Phi: phi, Freeze: func(context.Context, backend.Buffer) (pnp.Denoiser, error) {
			if guides++; guides%2 == 0 {
				return nil, wrong
			}
			return phi, nil
		}},
		"annealing": {Phi: phi, Anneal: func(context.Context, backend.Buffer, int, func(int, float64) error) (backend.Buffer, int, error) {
			return nil, 0, wrong
		}},
		"nothing": {Phi: phi, Retune: retune(nil)},
	} {
		for range 110 {
			y, err := dev.Alloc(backend.Image(1, side, side))
			require.NoError(t, err, name)
			require.NoError(t, dev.Fill(y, 0.5))
			start, err := dev.Alloc(y.Shape())
			require.NoError(t, err, name)
			broken.K, broken.Y, broken.Start, broken.Tolerance = k, y, start, 1e-3
			x, _, err := broken.Solve(t.Context(), dev, networks.Own, Options{Iterations: 20}, &outcome.Report{})
			if name == "nothing" {
				require.NoError(t, err)
				x.Free()
			} else {
				require.ErrorIs(t, err, wrong, name)
			}
			y.Free()
			start.Free()
		}
	}
}

// TestTotalVariationSolvesItsProblem: for K = c·I the iteration minimises ½‖cx − y‖² + λ·TV(x), so its result is the
// proximal map of (λ/c²)·TV at y/c, for any step size.
func TestTotalVariationSolvesItsProblem(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SliceOfN(rapid.Float32Range(0, 0.5), side*side, side*side).Draw(t, "y")
		c := rapid.Float32Range(0.5, 1).Draw(t, "c")
		weight, part := rapid.Float64Range(0.001, 0.05).Draw(t, "λ"), rapid.Float64Range(0.3, 1).Draw(t, "τ‖K‖²")
		gains, scaled := make([]float32, side*side), make([]float32, side*side)
		for i := range gains {
			gains[i], scaled[i] = c, y[i]/c
		}
		k := diagonal(t, dev, gains)
		problem := Problem{K: k, Channels: 1, Y: y, Start: make([]float32, side*side), Prior: PriorStrength{Weight: weight}}
		var report outcome.Report
		got, err := problem.Solve(context.Background(), dev, &networks.Choice{Method: networks.TV},
			Options{Strength: 1, Step: part / float64(c*c), Constraint: pnp.Unconstrained, Tolerance: 1e-5, Iterations: 1000}, &report)
		require.NoError(t, err)
		require.Equal(t, weight, report.Weight)

		shape := backend.Image(1, side, side)
		prox, err := tv.New(dev, shape, tv.Options{Alpha: weight / float64(c*c), Coupling: Coupling(1), RelativeGap: 1e-6})
		require.NoError(t, err)
		defer prox.Free()
		src := buffer(t, dev, scaled)
		defer src.Free()
		dst, err := dev.Alloc(shape)
		require.NoError(t, err)
		defer dst.Free()
		require.NoError(t, prox.Apply(context.Background(), dst, src))
		want := make([]float32, side*side)
		require.NoError(t, dev.Download(want, dst))
		require.InDeltaSlice(t, want, got, 2e-3)
	})
}
