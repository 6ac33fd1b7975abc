package pnp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// mean is the operator that takes the mean of two neighbours in a row, without the last
// column: no diagonal, and not square.
type mean struct {
	dev  backend.Device
	h, w int // of the domain
}

func (k mean) Domain() (h, w int)      { return k.h, k.w }
func (k mean) Range() (h, w int)       { return k.h, k.w - 1 }
func (k mean) Norm() (float64, string) { return 1, "mean of two isometries" }
func (k mean) sum(out, in []float32, transposed bool) {
	for y := range k.h {
		for x := range k.w - 1 {
			narrow, wide := y*(k.w-1)+x, y*k.w+x
			for _, i := range []int{wide, wide + 1} {
				if transposed {
					out[i] += in[narrow] / 2
				} else {
					out[narrow] += in[i] / 2
				}
			}
		}
	}
}

func (k mean) Apply(dst, src backend.Buffer) error {
	return onHost(k.dev, dst, src, func(x []float32) []float32 {
		out := make([]float32, k.h*(k.w-1))
		k.sum(out, x, false)
		return out
	})
}

func (k mean) Adjoint(dst, src backend.Buffer) error {
	return onHost(k.dev, dst, src, func(x []float32) []float32 {
		out := make([]float32, k.h*k.w)
		k.sum(out, x, true)
		return out
	})
}

// The proximal map is characterised by v − x + τKᵀ(Kv − y) = 0; what is left of that is a
// bound of the distance to it, which must be as small as asked for, and as small as it
// claims.
func TestProximalStepIsOptimal(t *testing.T) {
	dev := newDevice(t)
	for name, near := range map[string]func(i int) float32{
		"plain":          nil,
		"preconditioned": func(i int) float32 { return []float32{1, 0.3, 0.7}[i%3] },
	} {
		t.Run(name, func(t *testing.T) { testProximalStep(t, dev, near) })
	}
}

// conditioned is an operator with a diagonal preconditioner.
type conditioned struct {
	operator.Linear
	near     func(i int) float32
	dev      backend.Device
	products *int // with K, counted
}

func (k conditioned) Apply(dst, src backend.Buffer) error {
	*k.products++
	return k.Linear.Apply(dst, src)
}

func (k conditioned) Preconditioner(float64) (operator.Preconditioner, error) {
	return scaling{k.dev, k.near}, nil
}

type scaling struct {
	dev  backend.Device
	near func(i int) float32
}

func (scaling) Free() {}

func (m scaling) Apply(dst, src backend.Buffer) error {
	return onHost(m.dev, dst, src, func(x []float32) []float32 {
		for i := range x {
			x[i] *= m.near(i)
		}
		return x
	})
}

// With the inverse itself for a preconditioner one step is enough, and none from the solution.
func TestPreconditionedStepsAreFew(t *testing.T) {
	dev := newDevice(t)
	const tau = 50.0
	d := []float32{0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1}
	var products int
	k := conditioned{diagonal{dev, 2, 4, d}, func(i int) float32 { return 1 / (1 + tau*d[i]*d[i]) }, dev, &products}
	y := upload(t, dev, 2, 4, random(1, 8))
	start := upload(t, dev, 2, 4, random(2, 8))
	it, err := newIteration(dev, y, k, nothing{}, Options{DataStep: ProximalStep, Step: tau, Start: start, InnerError: 1e-4})
	require.NoError(t, err)
	defer it.free()
	for _, want := range []int{2, 1} {
		products = 0
		_, err = it.approach(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, products)
	}
}

func testProximalStep(t *testing.T, dev backend.Device, near func(i int) float32) {
	identity := function{dev, 0.5, true, func(x []float32) []float32 { return x }}
	rapid.Check(t, func(rt *rapid.T) {
		k := mean{dev, rapid.IntRange(1, 6).Draw(rt, "h"), rapid.IntRange(2, 12).Draw(rt, "w")}
		tau := math.Pow(10, rapid.Float64Range(-2, 3).Draw(rt, "log τ"))
		inner := math.Pow(10, rapid.Float64Range(-5, -1).Draw(rt, "log ε"))
		seed := rapid.Uint64().Draw(rt, "seed")
		y, start := k.buffer(rt, k.w-1, seed), k.buffer(rt, k.w, seed+1)
		defer y.Free()
		defer start.Free()
		var of operator.Linear = k
		if near != nil {
			of = conditioned{k, near, dev, new(int)}
		}
		it, err := newIteration(dev, y, of, identity, Options{
			DataStep: ProximalStep, Step: tau, Start: start, Constraint: Unconstrained, InnerError: inner})
		require.NoError(rt, err)
		defer it.free()
		x := make([]float32, k.h*k.w)
		require.NoError(rt, dev.Download(x, it.x))
		size := norm(x)
		// Three times, from the solution before, of another x each time.
		for range 3 {
			allowed := it.allowed(dataShare)
			errorBound, err := it.approach(context.Background())
			require.NoError(rt, err)
			floor := 1e-5 * (1 + tau) * (size + 1)
			require.LessOrEqual(rt, errorBound, allowed+floor)
			v, data := make([]float32, len(x)), make([]float32, k.h*(k.w-1))
			require.NoError(rt, dev.Download(v, it.moved))
			require.NoError(rt, dev.Download(data, y))
			forward, back := make([]float32, len(data)), make([]float32, len(v))
			k.sum(forward, v, false)
			for i := range forward {
				forward[i] -= data[i]
			}
			k.sum(back, forward, true)
			rest := make([]float32, len(v))
			for i := range rest {
				rest[i] = v[i] - x[i] + float32(it.tau)*back[i]
			}
			require.LessOrEqual(rt, norm(rest), errorBound+floor)
			for i := range x {
				x[i] *= 0.9
			}
			require.NoError(rt, dev.Upload(it.x, x))
		}
	})
}

func (k mean) buffer(t require.TestingT, w int, seed uint64) backend.Buffer {
	b, err := k.dev.Alloc(backend.Image(1, k.h, w))
	require.NoError(t, err)
	require.NoError(t, k.dev.Upload(b, random(seed, k.h*w)))
	return b
}

func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// The constant of the data step is held against what it says of linear maps: of d²
// between 0 and ‖K‖², (1−β)/β·‖x − Sx‖² ≤ ‖x‖² − ‖Sx‖², with equality at the largest.
func TestDataStepsAreAveraged(t *testing.T) {
	for _, norm := range []float64{0.5, 1, 2} {
		for _, scaled := range []float64{0.1, 1, 1.9, 16} {
			for _, step := range dataSteps {
				tau := scaled / (norm * norm)
				if step == GradientStep && scaled >= 2 {
					continue
				}
				beta := step.averagedness(tau, norm)
				require.True(t, beta > 0 && beta < 1)
				for i := range 101 {
					d := float64(i) / 100 * norm
					s := 1 - tau*d*d
					if step == ProximalStep {
						s = 1 / (1 + tau*d*d)
					}
					slack := 1 - s*s - (1-beta)/beta*(1-s)*(1-s)
					require.GreaterOrEqual(t, slack, -1e-12)
					if i == 100 {
						require.InDelta(t, 0, slack, 1e-12)
					}
				}
			}
		}
	}
}

func TestProximalCertificate(t *testing.T) {
	c := certify(parts{denoiser: claim{0.5, true, 1}, norm: 2, reason: "given", data: ProximalStep, step: 4, constraint: Unconstrained})
	require.InDelta(t, 16.0/17/2, c.Gradient, 1e-15)
	require.Less(t, c.Averagedness, 2.0/3, "better than with any gradient step of τ ≥ 1/‖K‖²")
	require.Contains(t, c.String(), "proximal map of τE")
	require.Contains(t, certify(parts{denoiser: claim{0.5, true, 1}, norm: 1, acceleration: Anderson, step: 1}).String(), "safeguarded")
}

// A contraction is averaged, whatever else is known of it: a rotation that shrinks by q is
// so with no better constant than (1+q)/2.
func TestContractionsAreAveraged(t *testing.T) {
	c := certify(parts{denoiser: claim{1, true, 0.6}, norm: 1, step: 1e-12, constraint: Unconstrained})
	require.True(t, c.Converges())
	require.Equal(t, 0.6, c.Contraction)
	require.InDelta(t, 0.8, c.Averagedness, 1e-9)
	require.Equal(t, 1.0, c.Denoiser, "what the denoiser says of itself")
	const q, alpha = 0.6, 0.8
	for i := range 360 {
		s, cos := math.Sincos(float64(i) * math.Pi / 180)
		x, y := q*cos, q*s
		slack := 1 - q*q - (1-alpha)/alpha*((1-x)*(1-x)+y*y)
		require.GreaterOrEqual(t, slack, -1e-12)
		if i == 180 {
			require.InDelta(t, 0, slack, 1e-12)
		}
	}
}

// The claims that Check makes hold with the proximal step.
func TestCheckOfProximalStep(t *testing.T) {
	dev := newDevice(t)
	k := mean{dev, 4, 7}
	trials := [2]Trial{
		{upload(t, dev, 4, 7, random(5, 28)), turn(dev, 0.7, 2.5)},
		{upload(t, dev, 4, 7, make([]float32, 28)), turn(dev, 0.7, 2.5)},
	}
	y := k.buffer(t, 6, 9)
	defer y.Free()
	report, err := Check(t.Context(), dev, y, k, trials, Options{DataStep: ProximalStep, MaxIterations: 40})
	require.NoError(t, err)
	require.True(t, report.Holds(), "%v", report.Violations)
	require.Less(t, report.Rows[39].Distance, 0.5*report.Distance0)
}

func TestDataStepNames(t *testing.T) {
	require.Equal(t, "gradient", GradientStep.String())
	require.Equal(t, "proximal", ProximalStep.String())
	require.Equal(t, "DataStep(7)", DataStep(7).String())
}

// TestDataStepApply: it is what Solve gives its denoiser first, to the bit.
func TestDataStepApply(t *testing.T) {
	dev := newDevice(t)
	k := mean{dev, 4, 9}
	y, x := k.buffer(t, k.w-1, 1), k.buffer(t, k.w, 2)
	defer y.Free()
	defer x.Free()
	before := download(t, dev, x)
	for data, step := range map[DataStep]float64{GradientStep: 0.7, ProximalStep: 12} {
		var first []float32
		phi := function{dev: dev, f: func(v []float32) []float32 {
			first = append(first, v...)
			return v
		}, alpha: 1, proven: true}
		_, _, err := Solve(t.Context(), dev, y, k, phi, Options{DataStep: data, Step: step, Start: x, MaxIterations: 1})
		require.NoError(t, err)
		got, err := data.Apply(t.Context(), dev, y, k, x, Options{Step: step})
		require.NoError(t, err)
		require.Equal(t, first, download(t, dev, got))
		got.Free()
	}
	require.Equal(t, before, download(t, dev, x))
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := GradientStep.Apply(ended, dev, y, unused{k}, x, Options{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = GradientStep.Apply(t.Context(), dev, y, k, nil, Options{})
	require.ErrorIs(t, err, backend.ErrArgument)
	_, err = GradientStep.Apply(t.Context(), dev, y, k, y, Options{})
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = GradientStep.Apply(t.Context(), dev, y, k, x, Options{Step: 2})
	require.ErrorContains(t, err, "would not be averaged")
}

// unused is an operator that must not be applied.
type unused struct{ operator.Linear }

func (unused) Apply(_, _ backend.Buffer) error { return errors.New("the operator was applied") }
