package pnp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// onHost lets the tests write operators and denoisers as functions on slices.
func onHost(dev backend.Device, dst, src backend.Buffer, f func(x []float32) []float32) error {
	x := make([]float32, src.Shape().Len())
	if err := dev.Download(x, src); err != nil {
		return err
	}
	return dev.Upload(dst, f(x))
}

// diagonal is the operator x ↦ d·x.
type diagonal struct {
	dev  backend.Device
	h, w int
	d    []float32
}

func (k diagonal) Domain() (h, w int) { return k.h, k.w }
func (k diagonal) Range() (h, w int)  { return k.h, k.w }
func (k diagonal) Apply(dst, src backend.Buffer) error {
	return onHost(k.dev, dst, src, func(x []float32) []float32 {
		for i := range x {
			x[i] *= k.d[i]
		}
		return x
	})
}
func (k diagonal) Adjoint(dst, src backend.Buffer) error { return k.Apply(dst, src) }
func (k diagonal) Norm() (float64, string) {
	norm := 0.0
	for _, v := range k.d {
		norm = math.Max(norm, math.Abs(float64(v)))
	}
	return norm, "largest diagonal element"
}

// function is a denoiser on slices with a claim.
type function struct {
	dev    backend.Device
	alpha  float64
	proven bool
	f      func(x []float32) []float32
}

func (p function) Apply(ctx context.Context, dst, src backend.Buffer) error {
	return onHost(p.dev, dst, src, p.f)
}
func (p function) Averagedness() (float64, bool) { return p.alpha, p.proven }

// shrink is the proximal map of c/2·‖x‖².
func shrink(dev backend.Device, c float32) function {
	return function{dev, 0.5, true, func(x []float32) []float32 {
		for i := range x {
			x[i] /= 1 + c
		}
		return x
	}}
}

// turn is (1−α)·x + α·Rx, R the rotation of every pair of elements by an angle:
// α-averaged and no better.
func turn(dev backend.Device, alpha, angle float64) function {
	s, c := math.Sincos(angle)
	return function{dev, alpha, true, func(x []float32) []float32 {
		for i := 0; i+1 < len(x); i += 2 {
			a, b := float64(x[i]), float64(x[i+1])
			x[i] = float32((1-alpha)*a + alpha*(c*a-s*b))
			x[i+1] = float32((1-alpha)*b + alpha*(s*a+c*b))
		}
		return x
	}}
}

// clipped is the projection onto the box [lo, hi]ⁿ after p.
func clipped(p function, lo, hi float32) function {
	return function{p.dev, averaged.Composition(averaged.Firm, p.alpha), true, func(x []float32) []float32 {
		x = p.f(x)
		for i := range x {
			x[i] = min(max(x[i], lo), hi)
		}
		return x
	}}
}

// wrong is an inexact denoiser that makes exactly the error it may make.
type wrong struct {
	function
	rng *rand.Rand
}

func (p wrong) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (float64, error) {
	err := onHost(p.dev, dst, src, func(x []float32) []float32 {
		x = p.f(x)
		e := make([]float64, len(x))
		norm := 0.0
		for i := range e {
			e[i] = p.rng.NormFloat64()
			norm += e[i] * e[i]
		}
		for i := range e {
			x[i] += float32(e[i] / math.Sqrt(norm) * maxError)
		}
		return x
	})
	return maxError, err
}

func newDevice(t testing.TB, options ...cpu.Option) backend.Device {
	dev := cputest.Open(t, options...)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

func upload(t testing.TB, dev backend.Device, h, w int, data []float32) backend.Buffer {
	b, err := dev.Alloc(backend.Image(1, h, w))
	require.NoError(t, err)
	t.Cleanup(b.Free)
	require.NoError(t, dev.Upload(b, data))
	return b
}

var download = devicetest.Download

func random(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = rng.Float32()
	}
	return x
}

func TestSolveReachesTheKnownFixedPoint(t *testing.T) {
	dev := newDevice(t)
	const h, w, c = 5, 7, 0.3
	k := diagonal{dev, h, w, random(1, h*w)}
	data := random(2, h*w)
	y := upload(t, dev, h, w, data)
	for _, step := range []float64{0, 0.5, 1.5} {
		x, report, err := Solve(t.Context(), dev, y, k, shrink(dev, c), Options{Step: step, Constraint: Unconstrained, Tolerance: 1e-7, MaxIterations: 5000})
		require.NoError(t, err)
		require.True(t, report.Converged)
		require.Len(t, report.Residuals, report.Iterations)
		// x = (x − τ(d²x − dy))/(1+c).
		tau := report.Certificate.Step
		for i, v := range download(t, dev, x) {
			d := float64(k.d[i])
			require.InDelta(t, tau*d*float64(data[i])/(c+tau*d*d), float64(v), 2e-5)
		}
		x.Free()
	}
}

func TestStartAndBox(t *testing.T) {
	dev := newDevice(t)
	k := diagonal{dev, 1, 2, []float32{1, 1}}
	y := upload(t, dev, 1, 2, []float32{3, -2})
	start := upload(t, dev, 1, 2, []float32{0.5, 7})
	identity := function{dev, 0.5, true, func(x []float32) []float32 { return x }}
	x, report, err := Solve(t.Context(), dev, y, k, identity, Options{Start: start})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 0}, download(t, dev, x), "the projection of y onto the box")
	require.InDelta(t, math.Sqrt(0.25+1), report.Distance, 1e-6, "the farthest corner from (0.5, 1)")
	require.Equal(t, []float32{0.5, 7}, download(t, dev, start), "the start is copied")
	x.Free()
	x, report, err = Solve(t.Context(), dev, y, k, identity, Options{Constraint: Unconstrained})
	require.NoError(t, err)
	require.Equal(t, []float32{3, -2}, download(t, dev, x))
	require.True(t, math.IsInf(report.Distance, 1))
	require.True(t, math.IsInf(report.Bound(0), 1))
	x.Free()
}

func TestZeroImageConverges(t *testing.T) {
	dev := newDevice(t)
	k := diagonal{dev, 2, 2, []float32{1, 1, 1, 1}}
	x, report, err := Solve(t.Context(), dev, upload(t, dev, 2, 2, make([]float32, 4)), k, shrink(dev, 1), Options{})
	require.NoError(t, err)
	require.True(t, report.Converged)
	require.Equal(t, 1, report.Iterations)
	x.Free()
}

// The bound must hold for the maps that come closest to breaking it: averaged
// rotations, exact and with errors as large as allowed.
func TestResidualsStayBelowTheBound(t *testing.T) {
	dev := newDevice(t)
	rapid.Check(t, func(rt *rapid.T) {
		const n = 24
		alpha := rapid.Float64Range(0.05, 0.97).Draw(rt, "alpha")
		angle := rapid.Float64Range(0, 2*math.Pi).Draw(rt, "angle")
		step := rapid.Float64Range(0.05, 1.95).Draw(rt, "step")
		seed := rapid.Uint64().Draw(rt, "seed")
		inexact := rapid.Bool().Draw(rt, "inexact")
		acceleration := rapid.SampledFrom(accelerations).Draw(rt, "acceleration")
		data := rapid.SampledFrom(dataSteps).Draw(rt, "data step")
		projected := rapid.Bool().Draw(rt, "projected")
		d := random(seed, n)
		d[0] = 1
		k := diagonal{dev, 4, 6, d}
		yb, err := dev.Alloc(backend.Image(1, 4, 6))
		require.NoError(rt, err)
		defer yb.Free()
		require.NoError(rt, dev.Upload(yb, random(seed+1, n)))
		turned := turn(dev, alpha, angle)
		if projected {
			turned = clipped(turned, 0.3, 0.7)
		}
		var phi Denoiser = turned
		if inexact {
			phi = wrong{turned, rand.New(rand.NewPCG(seed, 3))}
		}
		x, report, err := Solve(context.Background(), dev, yb, k, phi, Options{DataStep: data, Step: step, Tolerance: -1, MaxIterations: 60, Acceleration: acceleration})
		require.NoError(rt, err)
		x.Free()
		least := math.Inf(1)
		for i, r := range report.Residuals {
			inner := report.Errors[i]
			if i > 0 {
				inner -= report.Errors[i-1]
			}
			// ‖x_{k+1} − x_k‖ differs from ‖T(x_k) − x_k‖ by this step's error.
			least = math.Min(least, r-inner)
			require.LessOrEqual(rt, least, report.Bound(i)+1e-5)
		}
		require.True(rt, math.IsInf(report.Bound(-1), 1) && math.IsInf(report.Bound(60), 1))
	})
}

// A rotation turns every move of momentum into the wrong direction; because the
// moves are summable, the iteration must converge all the same.
func TestMomentumCannotBreakConvergence(t *testing.T) {
	dev := newDevice(t)
	const h, w = 4, 6
	d := make([]float32, h*w)
	for i := range d {
		d[i] = 1e-3 // the gradient step hardly helps
	}
	k := diagonal{dev, h, w, d}
	y := upload(t, dev, h, w, make([]float32, h*w))
	for _, angle := range []float64{0.5, 1.5, math.Pi} {
		start := upload(t, dev, h, w, random(8, h*w))
		x, report, err := Solve(t.Context(), dev, y, k, turn(dev, 0.9, angle), Options{
			Step: 1, Start: start, Constraint: Unconstrained, Tolerance: -1, MaxIterations: 3000, Acceleration: Momentum})
		require.NoError(t, err)
		x.Free()
		last := report.Residuals[len(report.Residuals)-1]
		// The moves fall as k^−1.1: a factor of 12 from the 300th to the 3000th.
		require.Less(t, last, 0.15*report.Residuals[299]+1e-6, "angle %v", angle)
		limit := 0.0
		for n := range report.Residuals {
			limit += 100 * report.Residuals[0] / math.Pow(float64(n+1), 1.1)
		}
		require.LessOrEqual(t, report.Errors[len(report.Errors)-1], limit, "the moves keep to their budget")
	}
}

// Where the map is proximal, momentum reaches the same point in fewer steps.
func TestMomentumGainsOnProximalMaps(t *testing.T) {
	dev := newDevice(t)
	const h, w = 8, 8
	d := random(1, h*w)
	for i := range d {
		d[i] = 0.02 + d[i]*d[i]
	}
	k := diagonal{dev, h, w, d}
	y := upload(t, dev, h, w, random(2, h*w))
	var results [2][]float32
	var iterations [2]int
	for i, a := range []Acceleration{Plain, Momentum} {
		x, report, err := Solve(t.Context(), dev, y, k, shrink(dev, 1e-4), Options{
			Step: 1, Constraint: Unconstrained, Tolerance: 1e-6, MaxIterations: 100000, Acceleration: a})
		require.NoError(t, err)
		require.True(t, report.Converged)
		results[i], iterations[i] = download(t, dev, x), report.Iterations
		x.Free()
	}
	require.Less(t, 5*iterations[1], iterations[0])
	// The fixed point in closed form, with the tolerance of a slow iteration.
	for i, v := range results[1] {
		q, c := float64(d[i]), 1e-4
		host := download(t, dev, y)
		require.InDelta(t, q*float64(host[i])/(c+q*q), float64(v), 0.05*(1+math.Abs(float64(v))))
	}
}

// claim is a denoiser that says what is to be said of it, and does nothing.
type claim struct {
	alpha  float64
	proven bool
	q      float64
}

func (claim) Apply(context.Context, backend.Buffer, backend.Buffer) error { return nil }
func (c claim) Averagedness() (float64, bool)                             { return c.alpha, c.proven }
func (c claim) Contraction() (float64, bool)                              { return c.q, c.proven }

func of(alpha float64, proven bool, norm, step float64, set Constraint) Certificate {
	return certify(parts{denoiser: claim{alpha, proven, 1}, norm: norm, reason: "given", step: step, constraint: set})
}

func TestCertificateOfKnownParts(t *testing.T) {
	// Total variation with τ = 1/‖K‖²: two ½-averaged maps, then a projection.
	c := of(0.5, true, 2, 0.25, UnitBox)
	require.InDelta(t, 0.5, c.Gradient, 1e-15)
	require.InDelta(t, 0.75, c.Averagedness, 1e-15)
	require.True(t, c.FixedPointExists() && c.Converges())
	c = of(0.5, true, 2, 0.25, Unconstrained)
	require.InDelta(t, 2.0/3, c.Averagedness, 1e-15)
	require.False(t, c.FixedPointExists())
	require.True(t, c.Converges())
	require.InDelta(t, math.Sqrt(2.0/4)*3.5, c.ResidualBound(3, 3, 0.5), 1e-12)
	require.Contains(t, c.String(), "assumed")
	// A map that is only nonexpansive keeps the box's fixed point, not convergence.
	c = of(1, true, 1, 1, UnitBox)
	require.True(t, c.Proven && c.FixedPointExists())
	require.False(t, c.Converges())
	require.True(t, math.IsInf(c.ResidualBound(10, 1, 0), 1))
	require.Contains(t, c.String(), "not promised")
	for _, nothing := range []Certificate{of(0.5, false, 1, 1, UnitBox), of(1.2, true, 1, 1, UnitBox), of(math.NaN(), true, 1, 1, UnitBox)} {
		require.False(t, nothing.Proven || nothing.FixedPointExists() || nothing.Converges())
		require.Contains(t, nothing.String(), "nothing is promised")
	}
}

func TestWhatIsRefused(t *testing.T) {
	dev := newDevice(t)
	k := diagonal{dev, 2, 2, []float32{2, 1, 1, 1}}
	y := upload(t, dev, 2, 2, random(1, 4))
	small := upload(t, dev, 1, 2, random(1, 2))
	nan := upload(t, dev, 2, 2, []float32{0, float32(math.NaN()), 0, 0})
	phi := shrink(dev, 1)
	for name, c := range map[string]struct {
		y   backend.Buffer
		k   operator.Linear
		opt Options
		say string
	}{
		"step at the limit":    {y, k, Options{Step: 0.5}, "2/‖K‖²"},
		"negative step":        {y, k, Options{Step: -1}, "below 2/‖K‖²"},
		"step not a number":    {y, k, Options{Step: math.NaN()}, "2/‖K‖²"},
		"iterations":           {y, k, Options{MaxIterations: -1}, "MaxIterations is out of range"},
		"tolerance":            {y, k, Options{Tolerance: math.NaN()}, "Tolerance is out of range"},
		"inner error":          {y, k, Options{InnerError: -1}, "InnerError is out of range"},
		"memory":               {y, k, Options{Memory: -1}, "Memory is out of range"},
		"too much memory":      {y, k, Options{Memory: MaxMemory + 1}, "Memory is out of range"},
		"acceleration":         {y, k, Options{Acceleration: 9}, "Acceleration is out of range"},
		"data step":            {y, k, Options{DataStep: 9}, "data step"},
		"infinite step":        {y, k, Options{DataStep: ProximalStep, Step: math.Inf(1)}, "above 0"},
		"negative prox step":   {y, k, Options{DataStep: ProximalStep, Step: -1}, "above 0"},
		"peak":                 {y, k, Options{Peak: -1}, "Peak is out of range"},
		"constraint":           {y, k, Options{Constraint: 9}, "Constraint is out of range"},
		"size of measurements": {small, k, Options{}, "range of 2×2"},
		"size of start":        {y, k, Options{Start: small}, "domain"},
		"no measurements":      {nil, k, Options{}, "needs measurements"},
		"no operator":          {y, nil, Options{}, "an operator"},
		"not a number":         {nan, k, Options{}, "NaN"},
		"zero operator":        {y, diagonal{dev, 2, 2, make([]float32, 4)}, Options{}, "norm bound"},
	} {
		_, _, err := Solve(t.Context(), dev, c.y, c.k, phi, c.opt)
		require.ErrorContains(t, err, c.say, name)
	}
	_, _, err := Solve(t.Context(), nil, y, k, phi, Options{})
	require.ErrorContains(t, err, "the device is nil")
	_, _, err = Solve(t.Context(), dev, y, k, nil, Options{})
	require.ErrorContains(t, err, "a denoiser")
	require.Equal(t, DefaultMemory, AutomaticMemory(0))
	x, _, err := Solve(t.Context(), dev, y, k, phi, Options{Step: 0.499})
	require.NoError(t, err)
	x.Free()
}

func TestRunsEndWhenTold(t *testing.T) {
	dev := newDevice(t)
	k := diagonal{dev, 2, 2, random(5, 4)}
	y := upload(t, dev, 2, 2, random(1, 4))
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	_, _, err := Solve(ctx, dev, y, k, shrink(dev, 1e-3), Options{Tolerance: -1, Progress: func(p backend.Progress) error {
		steps++
		require.Equal(t, steps, p.Iteration)
		require.InDelta(t, float64(steps)/DefaultMaxIterations, p.Fraction, 1e-15)
		if steps == 3 {
			cancel()
		}
		return nil
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, steps)
	enough := errors.New("enough")
	_, _, err = Solve(t.Context(), dev, y, k, shrink(dev, 1), Options{Progress: func(backend.Progress) error { return enough }})
	require.ErrorIs(t, err, enough)
	broken := shrink(dev, 1)
	broken.f = func(x []float32) []float32 { x[0] = float32(math.Inf(1)); return x }
	_, _, err = Solve(t.Context(), dev, y, k, broken, Options{Constraint: Unconstrained})
	require.ErrorContains(t, err, "not finite")
}

// A device with room for one run at a time shows a buffer that is not freed, on
// the way of an error too.
func TestNothingLeaks(t *testing.T) {
	const n = 64
	dev := newDevice(t, cpu.MemoryLimit(6*4*n))
	k := diagonal{dev, 8, 8, random(5, n)}
	y := upload(t, dev, 8, 8, random(1, n))
	refuse := errors.New("no")
	for i := range 20 {
		x, _, err := Solve(t.Context(), dev, y, k, shrink(dev, 1), Options{})
		require.NoError(t, err, "run %d", i)
		x.Free()
		_, _, err = Solve(t.Context(), dev, y, k, shrink(dev, 1), Options{Progress: func(backend.Progress) error { return refuse }})
		require.ErrorIs(t, err, refuse)
	}
	more, other := upload(t, dev, 8, 8, random(1, n)), upload(t, dev, 8, 8, random(1, n))
	_, _, err := Solve(t.Context(), dev, y, k, shrink(dev, 1), Options{})
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	more.Free()
	other.Free()
	x, _, err := Solve(t.Context(), dev, y, k, shrink(dev, 1), Options{})
	require.NoError(t, err)
	x.Free()
}

func TestCheckFindsWhatIsFalse(t *testing.T) {
	dev := newDevice(t)
	const h, w = 4, 6
	d := random(3, h*w)
	d[5] = 1
	k := diagonal{dev, h, w, d}
	y := upload(t, dev, h, w, random(4, h*w))
	trials := func(phi Denoiser) [2]Trial {
		return [2]Trial{
			{upload(t, dev, h, w, random(5, h*w)), phi},
			{upload(t, dev, h, w, make([]float32, h*w)), phi},
		}
	}
	report, err := Check(t.Context(), dev, y, k, trials(turn(dev, 0.7, 2.5)), Options{MaxIterations: 50})
	require.NoError(t, err)
	require.True(t, report.Holds(), "%v", report.Violations)
	require.Len(t, report.Rows, 50)
	require.LessOrEqual(t, report.Expansion, 1+1e-6)
	require.Less(t, report.Rows[49].Distance, report.Distance0)

	liar := function{dev, 0.5, true, func(x []float32) []float32 {
		for i := range x {
			x[i] = 0.5 + 1.6*(x[i]-0.5)
		}
		return x
	}}
	report, err = Check(t.Context(), dev, y, k, trials(liar), Options{MaxIterations: 50})
	require.NoError(t, err)
	require.False(t, report.Holds())
	require.NotEmpty(t, report.Violations)
	require.Greater(t, report.Expansion, 1.0)

	silent := shrink(dev, 1)
	silent.proven = false
	report, err = Check(t.Context(), dev, y, k, trials(silent), Options{MaxIterations: 5})
	require.NoError(t, err)
	require.False(t, report.Holds(), "nothing is promised, so nothing holds")
	require.Empty(t, report.Violations)

	_, err = Check(t.Context(), dev, y, k, [2]Trial{}, Options{})
	require.Error(t, err)
}

// A box that ends at Peak: an image brighter than 1 is reached, and one brighter than Peak is not.
func TestPeak(t *testing.T) {
	dev := newDevice(t)
	identity := function{dev, 0.5, true, func(x []float32) []float32 { return x }}
	y := upload(t, dev, 1, 3, []float32{-1, 2, 9})
	defer y.Free()
	k := diagonal{dev, 1, 3, []float32{1, 1, 1}}
	for _, how := range []Acceleration{Plain, Anderson} {
		x, report, err := Solve(t.Context(), dev, y, k, identity, Options{Peak: 4, Tolerance: 1e-6, Acceleration: how})
		require.NoError(t, err)
		require.InDeltaSlice(t, []float32{0, 2, 4}, download(t, dev, x), 1e-4)
		require.True(t, report.Certificate.FixedPointExists())
		require.Contains(t, report.Certificate.String(), "[0,4]")
		require.InDelta(t, math.Sqrt(16+4+16), report.Distance, 1e-5)
		x.Free()
	}
}

// Nothing holds a start that was given away while the iteration runs.
func TestStartIsGone(t *testing.T) {
	const h, w = 8, 9
	dev := newDevice(t)
	gone := make(chan struct{})
	start := func() backend.Buffer {
		b, err := dev.Alloc(backend.Image(1, h, w))
		require.NoError(t, err)
		require.NoError(t, dev.Upload(b, random(1, h*w)))
		runtime.SetFinalizer(b, func(backend.Buffer) { close(gone) })
		return b
	}
	collected := false
	phi := function{dev, 0.5, true, func(x []float32) []float32 {
		runtime.GC()
		select {
		case <-gone:
			collected = true
		case <-time.After(10 * time.Millisecond):
		}
		return x
	}}
	y := upload(t, dev, h, w, random(2, h*w))
	x, _, err := Solve(t.Context(), dev, y, diagonal{dev, h, w, random(3, h*w)}, phi, Options{Start: start(), TakeStart: true, Tolerance: -1, MaxIterations: 30})
	require.NoError(t, err)
	x.Free()
	require.True(t, collected)
}
