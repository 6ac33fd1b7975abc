package tv_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/tv"
)

var couplings = []tv.Coupling{tv.PerChannel(), tv.Coupled(), tv.Opponent(1.7)}

// fixture is a Prox with its buffers.
type fixture struct {
	*tv.Prox
	dev      backend.Device
	dst, src backend.Buffer
}

func newFixture(t require.TestingT, dev backend.Device, s backend.Shape, o tv.Options) *fixture {
	p, err := tv.New(dev, s, o)
	require.NoError(t, err)
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	src, err := dev.Alloc(s)
	require.NoError(t, err)
	return &fixture{p, dev, dst, src}
}

func (f *fixture) result(t require.TestingT) []float32 {
	out := make([]float32, f.dst.Shape().Len())
	require.NoError(t, f.dev.Download(out, f.dst))
	return out
}

func (f *fixture) apply(t require.TestingT, y []float32) []float32 {
	require.NoError(t, f.dev.Upload(f.src, y))
	require.NoError(t, f.Apply(context.Background(), f.dst, f.src))
	return f.result(t)
}

func (f *fixture) within(t require.TestingT, y []float32, maxError float64) ([]float32, float64) {
	require.NoError(t, f.dev.Upload(f.src, y))
	bound, err := f.ApplyWithin(context.Background(), f.dst, f.src, maxError)
	require.NoError(t, err)
	return f.result(t), bound
}

func device(t testing.TB, threads int) backend.Device {
	dev := cputest.Open(t, cpu.Threads(threads))
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

func TestAgreesWithTheReference(t *testing.T) {
	dev := device(t, 2)
	for _, s := range []backend.Shape{backend.Image(1, 13, 17), backend.Image(3, 10, 11), backend.Image(4, 6, 9), backend.Image(2, 1, 20), backend.Image(3, 17, 1)} {
		for _, c := range []tv.Coupling{tv.PerChannel(), tv.Coupled()} {
			y := picture(s, 0.1, 3)
			f := newFixture(t, dev, s, tv.Options{Alpha: 0.125, Coupling: c})
			u, bound := f.within(t, y, 2e-3)
			want := rof{c: s.C, h: s.H, w: s.W, alpha: 0.125, coupled: c == tv.Coupled()}.solve(widen(y), 1e-10)
			require.LessOrEqual(t, bound, 2e-3)
			require.LessOrEqual(t, distance(widen(u), want), bound+1e-4, "%v %v", s, c)
		}
	}
}

func TestAgreesWithTheReferenceOnOpponentAxes(t *testing.T) {
	dev := device(t, 2)
	s := backend.Image(3, 10, 11)
	y := picture(s, 0.1, 5)
	f := newFixture(t, dev, s, tv.Options{Alpha: 0.1, Coupling: tv.Opponent(1.7)})
	u, bound := f.within(t, y, 2e-3)

	z, n := change(widen(y), false), s.Plane()
	luma := rof{c: 1, h: s.H, w: s.W, alpha: 0.1}.solve(z[:n], 1e-10)
	chroma := rof{c: 2, h: s.H, w: s.W, alpha: 0.17, coupled: true}.solve(z[n:], 1e-10)
	want := change(append(luma, chroma...), true)
	require.LessOrEqual(t, bound, 2e-3)
	require.LessOrEqual(t, distance(widen(u), want), bound+1e-4)
}

func TestGapShrinksToTheTolerance(t *testing.T) {
	dev := device(t, 2)
	s := backend.Image(3, 40, 50)
	y := picture(s, 0.15, 1)
	tolerances := []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6}
	if testing.Short() { // long under emulation; go test ./... has all
		tolerances = []float64{1e-2, 1e-4, 1e-6}
	}
	for _, c := range couplings {
		last := math.Inf(1)
		for _, tolerance := range tolerances {
			f := newFixture(t, dev, s, tv.Options{Alpha: 0.12, Coupling: c, RelativeGap: tolerance})
			f.apply(t, y)
			r := f.Report()
			require.True(t, r.Converged, "%v at %g", c, tolerance)
			require.GreaterOrEqual(t, r.Gap, 0.0)
			require.LessOrEqual(t, r.RelativeGap(), tolerance)
			require.LessOrEqual(t, r.Gap, last)
			require.InDelta(t, r.Gap, r.Primal-r.Dual, 1e-9*r.Primal)
			last = r.Gap
		}
	}
}

func TestDefaultsOfOptions(t *testing.T) {
	f := newFixture(t, device(t, 1), backend.Image(3, 20, 20), tv.Options{Alpha: 0.1})
	f.apply(t, picture(backend.Image(3, 20, 20), 0.1, 1))
	r := f.Report()
	require.LessOrEqual(t, r.RelativeGap(), tv.DefaultRelativeGap)
	require.Len(t, r.Groups, 2, "luma and chroma")
	require.Equal(t, 2, r.Groups[1].Count)
	require.Greater(t, r.Groups[1].Alpha, r.Groups[0].Alpha)
}

// The solver says so where float32 allows no smaller gap, and ends.
func TestStopsAtTheFloorOfFloat32(t *testing.T) {
	s := backend.Image(1, 14, 14)
	y := picture(s, 0.1, 2)
	f := newFixture(t, device(t, 1), s, tv.Options{Alpha: 0.1, Coupling: tv.PerChannel(), RelativeGap: 1e-15, MaxIterations: 100000})
	u := f.apply(t, y)
	r := f.Report()
	require.False(t, r.Converged)
	require.True(t, r.Groups[0].AtFloor)
	require.Less(t, r.RelativeGap(), 1e-6)
	want := rof{c: 1, h: s.H, w: s.W, alpha: 0.1}.solve(widen(y), 1e-10)
	require.LessOrEqual(t, distance(widen(u), want), math.Sqrt(2*r.Gap)+1e-4)

	_, bound := f.within(t, y, 0)
	require.Greater(t, bound, 0.0)
	require.Less(t, bound, 0.01)
}

// The floor is higher under a large α, where the image becomes flat: enlarging by 2 with 16 times the strength took 20 times as long.
func TestStopsAtTheFloorOfALargeAlpha(t *testing.T) {
	s := backend.Image(2, 60, 60)
	y := make([]float32, s.Len())
	random := rand.New(rand.NewPCG(3, 4))
	for i := range y {
		y[i] = 0.1 + 0.01*float32(random.NormFloat64())
	}
	f := newFixture(t, device(t, 2), s, tv.Options{Alpha: 0.2, Coupling: tv.Coupled()})
	for range 4 {
		f.within(t, y, 0)
	}
	_, bound := f.within(t, y, 0)
	r := f.Report()
	require.True(t, r.Groups[0].AtFloor)
	require.Less(t, r.Iterations, 100)
	require.Less(t, bound, 0.01)
}

func TestReachesTheLimitOfIterations(t *testing.T) {
	f := newFixture(t, device(t, 1), backend.Image(1, 30, 30), tv.Options{Alpha: 0.3, MaxIterations: 5})
	f.apply(t, picture(backend.Image(1, 30, 30), 0.1, 2))
	r := f.Report()
	require.Equal(t, 5, r.Iterations)
	require.False(t, r.Converged)
	require.False(t, r.Groups[0].AtFloor)
	require.Greater(t, r.Gap, 0.0)
}

// ‖Tx−Ty‖² ≤ ⟨Tx−Ty, x−y⟩, up to what the inexact solutions may add.
func TestFirmlyNonexpansive(t *testing.T) {
	dev := device(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		s := backend.Image(rapid.IntRange(1, 4).Draw(t, "channels"), rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "columns"))
		c := rapid.SampledFrom(couplings).Draw(t, "coupling")
		alpha := math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log α"))
		seed := rapid.Uint64().Draw(t, "seed")
		x := picture(s, 0.2, seed)
		y := picture(s, math.Pow(10, rapid.Float64Range(-2, 0.5).Draw(t, "log noise")), seed+1)
		f := newFixture(t, dev, s, tv.Options{Alpha: alpha, Coupling: c})
		tx, ex := f.within(t, x, 1e-4)
		ty, ey := f.within(t, y, 1e-4)
		d, between := minus(widen(tx), widen(ty)), minus(widen(x), widen(y))
		e := ex + ey
		require.LessOrEqual(t, inner(d, d), inner(d, between)+3*e*norm(between)+e*e)
	})
	f := newFixture(t, dev, backend.Image(1, 2, 2), tv.Options{Alpha: 1})
	averagedness, proven := f.Averagedness()
	require.Equal(t, 0.5, averagedness)
	require.True(t, proven)
}

// Moreau: y − prox(y) is the projection of y onto the polar set of α·TV, that is,
// ⟨y−u, v⟩ ≤ α·TV(v) for all v, with equality at v = u.
func TestMoreauIdentity(t *testing.T) {
	dev := device(t, 1)
	s := backend.Image(3, 12, 15)
	r := rand.New(rand.NewPCG(4, 4))
	y := picture(s, 0.2, 8)
	for _, c := range couplings {
		const alpha = 0.15
		total := func(x []float64) float64 {
			if c == tv.Opponent(1.7) {
				z, n := change(x, false), s.Plane()
				return alpha*rof{c: 1, h: s.H, w: s.W}.variation(z[:n]) + 1.7*alpha*rof{c: 2, h: s.H, w: s.W, coupled: true}.variation(z[n:])
			}
			return alpha * rof{c: 3, h: s.H, w: s.W, coupled: c == tv.Coupled()}.variation(x)
		}
		f := newFixture(t, dev, s, tv.Options{Alpha: alpha, Coupling: c})
		out, bound := f.within(t, y, 1e-3)
		u := widen(out)
		rest := minus(widen(y), u)
		require.InDelta(t, total(u), inner(rest, u), bound*(norm(rest)+norm(u)+alpha*math.Sqrt(8*float64(s.Len())))+bound*bound, "%v", c)
		for range 50 {
			v := make([]float64, len(u))
			for i := range v {
				v[i] = r.NormFloat64()
				if r.IntN(2) == 0 {
					v[i] = u[i]
				}
			}
			require.LessOrEqual(t, inner(rest, v), total(v)+bound*norm(v), "%v", c)
		}
	}
}

// prox of (s·α)·TV at s·y is s times prox of α·TV at y.
func TestScales(t *testing.T) {
	dev := device(t, 1)
	s := backend.Image(3, 10, 14)
	y := picture(s, 0.1, 8)
	big := make([]float32, len(y))
	for i := range y {
		big[i] = 256 * y[i]
	}
	for _, c := range couplings {
		u, e := newFixture(t, dev, s, tv.Options{Alpha: 0.1, Coupling: c}).within(t, y, 1e-4)
		v, f := newFixture(t, dev, s, tv.Options{Alpha: 25.6, Coupling: c}).within(t, big, 256e-4)
		for i := range u {
			require.InDelta(t, 256*float64(u[i]), v[i], 256*e+f)
		}
	}
}

func TestConstantImagesStay(t *testing.T) {
	dev := device(t, 1)
	for _, s := range []backend.Shape{backend.Image(1, 1, 1), backend.Image(3, 1, 1), backend.Image(3, 8, 9), backend.Image(2, 1, 7), backend.Image(4, 7, 1)} {
		for _, c := range couplings {
			y := make([]float32, s.Len())
			for i := range y {
				y[i] = 0.1 + 0.2*float32(i/s.Plane())
			}
			f := newFixture(t, dev, s, tv.Options{Alpha: 0.4, Coupling: c})
			for i, v := range f.apply(t, y) {
				require.InDelta(t, y[i], v, 1e-6, "%v %v", s, c)
			}
			require.True(t, f.Report().Converged)
		}
	}
}

func TestExtremeAlpha(t *testing.T) {
	dev := device(t, 1)
	s := backend.Image(3, 9, 7)
	y := picture(s, 0.2, 6)
	for _, c := range couplings {
		for _, alpha := range []float64{0, 1e-30, 1e-12} {
			u := newFixture(t, dev, s, tv.Options{Alpha: alpha, Coupling: c}).apply(t, y)
			for i := range u {
				require.InDelta(t, y[i], u[i], 1e-6, "α %g, %v", alpha, c)
			}
		}
		// A large α leaves the mean of each channel.
		for _, alpha := range []float64{1e3, 1e20, 1e38} {
			u := newFixture(t, dev, s, tv.Options{Alpha: alpha, Coupling: c, MaxIterations: 2000}).apply(t, y)
			for k := range s.C {
				from, to := k*s.Plane(), (k+1)*s.Plane()
				mean := 0.0
				for _, v := range y[from:to] {
					mean += float64(v) / float64(s.Plane())
				}
				for _, v := range u[from:to] {
					require.InDelta(t, mean, v, 1e-4, "α %g, %v", alpha, c)
				}
			}
		}
	}
}

func TestWarmStart(t *testing.T) {
	dev := device(t, 2)
	s := backend.Image(3, 48, 64)
	first, second := picture(s, 0.15, 1), picture(s, 0.15, 1)
	r := rand.New(rand.NewPCG(9, 9))
	for i := range second {
		second[i] += float32(0.003 * r.NormFloat64())
	}
	for _, c := range couplings {
		o := tv.Options{Alpha: 0.12, Coupling: c}
		warm, cold := newFixture(t, dev, s, o), newFixture(t, dev, s, o)
		warm.within(t, first, 0.05)
		u, e := warm.within(t, second, 0.05)
		v, f := cold.within(t, second, 0.05)
		require.LessOrEqual(t, e, 0.05)
		require.LessOrEqual(t, f, 0.05)
		require.LessOrEqual(t, distance(widen(u), widen(v)), e+f)
		require.Less(t, warm.Report().Iterations, cold.Report().Iterations*2/3, "%v", c)

		// The same again needs nothing, and Apply does not look at the past.
		warm.within(t, second, 0.06)
		require.Zero(t, warm.Report().Iterations)
		require.Equal(t, newFixture(t, dev, s, o).apply(t, first), warm.apply(t, first))

		// Another α may take the dual variable out of its balls.
		alphas := []float64{0.03, 0.2}
		if testing.Short() { // long under emulation; go test ./... has both
			alphas = alphas[:1]
		}
		for _, alpha := range alphas {
			require.NoError(t, warm.SetAlpha(alpha))
			require.Equal(t, alpha, warm.Alpha())
			o.Alpha = alpha
			u, e := warm.within(t, first, 0.05)
			v, f := newFixture(t, dev, s, o).within(t, first, 0.05)
			require.LessOrEqual(t, distance(widen(u), widen(v)), e+f)
		}
	}
}

func TestSameBitsForAnyThreads(t *testing.T) {
	s := backend.Image(3, 131, 67)
	y := picture(s, 0.15, 12)
	numbers := []int{1, 2, 5}
	if testing.Short() { // long under emulation; go test ./... has all
		numbers = []int{1, 5}
	}
	for _, c := range couplings {
		var want []float32
		for _, threads := range numbers {
			f := newFixture(t, device(t, threads), s, tv.Options{Alpha: 0.12, Coupling: c})
			got := f.apply(t, y)
			if want == nil {
				want = got
			}
			require.Equal(t, want, got, "%v, %d threads", c, threads)
		}
	}
}

func TestContextStops(t *testing.T) {
	s := backend.Image(3, 40, 40)
	f := newFixture(t, device(t, 1), s, tv.Options{Alpha: 0.1})
	require.NoError(t, f.dev.Upload(f.src, picture(s, 0.1, 1)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, f.Apply(ctx, f.dst, f.src), context.Canceled)
	_, err := f.ApplyWithin(ctx, f.dst, f.src, 1e-3)
	require.ErrorIs(t, err, context.Canceled)

	// Cancelled on the way.
	ctx, cancel = context.WithCancel(context.Background())
	g := newFixture(t, f.dev, s, tv.Options{Alpha: 0.1, RelativeGap: 1e-6, Progress: func(backend.Progress) error {
		cancel()
		return nil
	}})
	require.ErrorIs(t, g.Apply(ctx, g.dst, f.src), context.Canceled)
}

func TestProgressIsToldAndObeyed(t *testing.T) {
	s := backend.Image(3, 40, 40)
	stop := errors.New("enough")
	var seen []backend.Progress
	f := newFixture(t, device(t, 1), s, tv.Options{Alpha: 0.1, Progress: func(p backend.Progress) error {
		seen = append(seen, p)
		if p.Fraction > 0.5 { // of two groups the second
			return stop
		}
		return nil
	}})
	require.NoError(t, f.dev.Upload(f.src, picture(s, 0.1, 1)))
	require.ErrorIs(t, f.Apply(context.Background(), f.dst, f.src), stop)
	require.Greater(t, len(seen), 1)
	for i, p := range seen {
		require.Positive(t, p.Iteration)
		require.Equal(t, tv.DefaultRelativeGap, p.Tolerance)
		require.Equal(t, i == len(seen)-1, p.Fraction > 0.5)
		require.GreaterOrEqual(t, p.Fraction, seen[max(i-1, 0)].Fraction)
	}
	require.Contains(t, fractionsOf(seen), 0.5, "the first group ends at half")
}

func fractionsOf(list []backend.Progress) (fractions []float64) {
	for _, p := range list {
		fractions = append(fractions, p.Fraction)
	}
	return fractions
}

func TestRefusesWhatIsNotFinite(t *testing.T) {
	s := backend.Image(3, 20, 20)
	f := newFixture(t, device(t, 1), s, tv.Options{Alpha: 0.1})
	good := picture(s, 0.1, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		y := append([]float32(nil), good...)
		y[777] = float32(bad)
		require.NoError(t, f.dev.Upload(f.src, y))
		require.ErrorIs(t, f.Apply(context.Background(), f.dst, f.src), tv.ErrNotFinite)
		_, err := f.ApplyWithin(context.Background(), f.dst, f.src, 1e-2)
		require.ErrorIs(t, err, tv.ErrNotFinite)
		// The next image does not suffer.
		_, bound := f.within(t, good, 1e-2)
		require.LessOrEqual(t, bound, 1e-2)
	}
}

func TestRefusesBadArguments(t *testing.T) {
	dev := device(t, 1)
	s := backend.Image(3, 4, 4)
	for _, o := range []tv.Options{
		{Alpha: -1}, {Alpha: math.NaN()}, {Alpha: math.Inf(1)},
		{RelativeGap: -1}, {RelativeGap: math.NaN()}, {MaxIterations: -1},
		{Coupling: tv.Opponent(-1)}, {Coupling: tv.Opponent(math.NaN())},
	} {
		_, err := tv.New(dev, s, o)
		require.Error(t, err, "%+v", o)
	}
	for _, s := range []backend.Shape{{}, {N: 2, C: 1, H: 4, W: 4}, backend.Image(1, 0, 4)} {
		_, err := tv.New(dev, s, tv.Options{})
		require.ErrorIs(t, err, backend.ErrShape)
	}
	_, err := tv.New(dev, backend.Image(17, 4, 4), tv.Options{})
	require.ErrorContains(t, err, "at most 16")

	f := newFixture(t, dev, s, tv.Options{Alpha: 0.1})
	require.Error(t, f.SetAlpha(-1))
	other, err := dev.Alloc(backend.Image(3, 4, 5))
	require.NoError(t, err)
	require.ErrorIs(t, f.Apply(context.Background(), other, f.src), backend.ErrShape)
	require.ErrorIs(t, f.Apply(context.Background(), f.src, f.src), backend.ErrAlias)
	_, err = f.ApplyWithin(context.Background(), f.dst, f.src, math.NaN())
	require.Error(t, err)
}

func TestFreeGivesMemoryBack(t *testing.T) {
	s := backend.Image(3, 16, 16)
	plane := int64(4 * s.Plane())
	// dst and src have 6 planes; Apply adds 3 × 2, ApplyWithin 2 + 9.
	dev := cputest.Open(t, cpu.Threads(1), cpu.MemoryLimit(17*plane))
	f := newFixture(t, dev, s, tv.Options{Alpha: 0.1})
	y := picture(s, 0.1, 1)
	for range 3 {
		f.apply(t, y)
		f.Free()
		f.within(t, y, 0.1)
		f.Free()
	}
	f.within(t, y, 0.1)
	require.ErrorIs(t, f.Apply(context.Background(), f.dst, f.src), backend.ErrOutOfMemory)
}

func ExampleProx() {
	dev, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = dev.Close() }()
	shape := backend.Image(1, 2, 4)
	src, _ := dev.Alloc(shape)
	dst, _ := dev.Alloc(shape)
	_ = dev.Upload(src, []float32{
		0, 0, 1, 1,
		0, 0, 1, 1,
	})
	prox, err := tv.New(dev, shape, tv.Options{Alpha: 0.2, RelativeGap: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer prox.Free()
	if err := prox.Apply(context.Background(), dst, src); err != nil {
		fmt.Println(err)
		return
	}
	u := make([]float32, shape.Len())
	_ = dev.Download(u, dst)
	fmt.Printf("%.2f\n", u[:4])
	// Output: [0.10 0.10 0.90 0.90]
}

func TestNilIsAnError(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	s := backend.Image(3, 4, 5)
	_, err := tv.New(nil, s, tv.Options{Alpha: 0.1})
	require.ErrorContains(t, err, "the device is nil")
	f := newFixture(t, dev, s, tv.Options{Alpha: 0.1})
	for _, b := range [][2]backend.Buffer{{nil, f.src}, {f.dst, nil}, {nil, nil}} {
		require.Error(t, f.Apply(t.Context(), b[0], b[1]))
		_, err := f.ApplyWithin(t.Context(), b[0], b[1], 1)
		require.Error(t, err)
	}
}
