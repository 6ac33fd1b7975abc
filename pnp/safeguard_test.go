package pnp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// poisoned runs Anderson's acceleration with another proposal in its place. alone is without room for points.
func poisoned(dev backend.Device, y backend.Buffer, k operator.Linear, phi Denoiser, opt Options, alone bool, direct func(dst, image backend.Buffer) error) (backend.Buffer, Report, error) {
	opt.Acceleration = Anderson
	it, err := newIteration(dev, y, k, phi, opt)
	if err != nil {
		return nil, Report{}, err
	}
	defer it.free()
	if it.guard.direct = direct; alone {
		it.guard.spectral = new(spectral)
	}
	return it.run(context.Background(), opt)
}

// written is a proposal made on the host of T(x).
func written(dev backend.Device, f func(n int, image []float32)) func(dst, image backend.Buffer) error {
	n := 0
	return func(dst, image backend.Buffer) error {
		n++
		return onHost(dev, dst, image, func(x []float32) []float32 {
			f(n, x)
			return x
		})
	}
}

func filled(v float32) func(int, []float32) {
	return func(_ int, x []float32) {
		for i := range x {
			x[i] = v
		}
	}
}

// poisons are proposals that lead nowhere.
func poisons(dev backend.Device) map[string]func(dst, image backend.Buffer) error {
	rng := rand.New(rand.NewPCG(5, 6))
	noise := func(scale func(n int) float64) func(int, []float32) {
		return func(n int, x []float32) {
			for i := range x {
				x[i] += float32(scale(n) * rng.NormFloat64())
			}
		}
	}
	return map[string]func(dst, image backend.Buffer) error{
		"not a number": written(dev, filled(float32(math.NaN()))),
		"one of them":  written(dev, func(_ int, x []float32) { x[len(x)/2] = float32(math.NaN()) }),
		"infinite":     written(dev, filled(float32(math.Inf(1)))),
		"huge":         written(dev, filled(math.MaxFloat32)),
		"far":          written(dev, filled(-1e6)),
		"constant":     written(dev, filled(0.5)),
		"nothing":      written(dev, func(int, []float32) {}),
		"noise":        written(dev, noise(func(int) float64 { return 1 })),
		// Small enough for a while, and then not.
		"fading noise": written(dev, noise(func(n int) float64 { return math.Pow(float64(n), -1.2) })),
		"now and then": written(dev, noise(func(n int) float64 { return float64(n%3) * 1e-3 })),
		"backwards": written(dev, func(_ int, x []float32) {
			for i := range x {
				x[i] *= 3 // away from the fixed point, which is 0
			}
		}),
		"outwards": written(dev, func(_ int, x []float32) {
			for i := range x {
				x[i] *= 1.02 // as much as the plain step gains
			}
		}),
	}
}

// slow is a map that converges slowly to 0, its only fixed point, without the box in the
// way: rotations that are averaged, whose step has nothing to do with the direction to
// the fixed point.
func slow(t testing.TB, dev backend.Device, h, w int) (backend.Buffer, operator.Linear, Denoiser) {
	k := diagonal{dev, h, w, make([]float32, h*w)}
	k.d[0] = 1e-3
	return upload(t, dev, h, w, make([]float32, h*w)), k, turn(dev, 0.6, 0.35)
}

func TestPoisonCannotBreakConvergence(t *testing.T) {
	dev := newDevice(t)
	const h, w = 4, 6
	y, k, phi := slow(t, dev, h, w)
	start := upload(t, dev, h, w, random(8, h*w))
	opt := Options{Step: 1, Start: start, Constraint: Unconstrained, Tolerance: -1, MaxIterations: 4000}
	distance := norm(random(8, h*w)) // to 0
	for name, direct := range poisons(dev) {
		x, report, err := poisoned(dev, y, k, phi, opt, false, direct)
		require.NoError(t, err, name)
		require.Len(t, report.Residuals, opt.MaxIterations, name)
		require.LessOrEqual(t, 3*len(report.Rejected), opt.MaxIterations+1, name)
		least, ways := math.Inf(1), 0.0
		for i, r := range report.Residuals {
			least = math.Min(least, r)
			kept := i
			for _, j := range report.Rejected {
				if j <= i {
					kept--
				}
			}
			require.LessOrEqual(t, least, report.Certificate.ResidualBound(kept, distance, report.Errors[i]), name)
		}
		for n := range report.Residuals {
			ways += 1000 * report.Residuals[0] / math.Pow(float64(n+1), 1.1)
		}
		require.LessOrEqual(t, report.Errors[len(report.Errors)-1], ways, "%s: the ways keep to their budget", name)
		// The n-th proposal is kept only if its residual is below its cap.
		accepted := 0
		for i := 1; i < len(report.Residuals); i++ {
			if report.Errors[i] > report.Errors[i-1] {
				accepted++
				require.LessOrEqual(t, report.Residuals[i], 10*report.Residuals[0]/math.Pow(float64(accepted), 1.1), name)
				require.NotContains(t, report.Rejected, i, name)
			}
		}
		require.Less(t, report.Residuals[len(report.Residuals)-1], 0.1*report.Residuals[0], name)
		require.Less(t, norm(download(t, dev, x)), 0.1*distance, name)
		x.Free()
	}
}

// If every proposal is given up the run is the plain one, bit by bit, except for a few
// applications that are lost.
func TestBadProposalsCostLittle(t *testing.T) {
	dev := newDevice(t)
	const h, w = 4, 6
	y, k, _ := slow(t, dev, h, w)
	// In the half that the start is in T hardly moves, in the other one it moves a lot: a
	// long way there has a residual above the cap.
	turned, swung := turn(dev, 0.6, 0.05), turn(dev, 0.6, math.Pi)
	phi := function{dev, 0.6, true, func(x []float32) []float32 {
		swung.f(x[:h*w/2])
		turned.f(x[h*w/2:])
		return x
	}}
	x0 := random(8, h*w)
	clear(x0[:h*w/2])
	opt := Options{Step: 1, Start: upload(t, dev, h, w, x0), Constraint: Unconstrained, Tolerance: -1}
	far := written(dev, func(_ int, x []float32) {
		for i := range h * w / 2 {
			x[i] = 1e4
		}
	})
	for _, limit := range []int{1, 2, 3, 5, 8, 100, 257} {
		opt.MaxIterations = limit
		x, report, err := poisoned(dev, y, k, phi, opt, false, far)
		require.NoError(t, err)
		if limit > 1 {
			require.NotEmpty(t, report.Rejected)
		}
		require.LessOrEqual(t, float64(len(report.Rejected)), math.Log2(float64(limit))+1)
		require.Zero(t, report.Errors[limit-1], "no way was accepted")
		plain := opt
		plain.MaxIterations = limit - len(report.Rejected)
		want, same, err := Solve(t.Context(), dev, y, k, phi, plain)
		require.NoError(t, err)
		var kept []float64
		for i, r := range report.Residuals {
			if !slices.Contains(report.Rejected, i) {
				kept = append(kept, r)
			}
		}
		require.Equal(t, same.Residuals, kept)
		require.Equal(t, download(t, dev, want), download(t, dev, x))
		require.Equal(t, same.Relative, report.Relative)
		want.Free()
		x.Free()
	}
}

// A denoiser without a proof may return anything for a proposal; then the plain step is
// left.
func TestProposalWithoutAValueIsGivenUp(t *testing.T) {
	dev := newDevice(t)
	k := diagonal{dev, 2, 2, []float32{1, 0.5, 0.5, 0.1}}
	y := upload(t, dev, 2, 2, random(3, 4))
	phi := function{dev, 1, false, func(x []float32) []float32 {
		for i := range x {
			if x[i] > 2 {
				x[i] = float32(math.NaN())
			}
		}
		return x
	}}
	x, report, err := poisoned(dev, y, k, phi, Options{Constraint: Unconstrained, MaxIterations: 20, Tolerance: -1}, false, written(dev, filled(3)))
	require.NoError(t, err)
	require.NotEmpty(t, report.Rejected)
	require.True(t, math.IsInf(report.Bound(3), 1), "nothing is proven")
	for _, v := range download(t, dev, x) {
		require.False(t, math.IsNaN(float64(v)))
	}
	x.Free()
}

// Whatever is proposed, the points stay in the box, and the bound holds for any averaged T.
func TestPoisonedBoundsHold(t *testing.T) {
	dev := newDevice(t)
	rapid.Check(t, func(rt *rapid.T) {
		const n = 24
		seed := rapid.Uint64().Draw(rt, "seed")
		alpha := rapid.Float64Range(0.05, 0.97).Draw(rt, "alpha")
		angle := rapid.Float64Range(0, 2*math.Pi).Draw(rt, "angle")
		scale := math.Pow(10, rapid.Float64Range(-5, 1).Draw(rt, "log scale"))
		d := random(seed, n)
		d[0] = 1
		k := diagonal{dev, 4, 6, d}
		y, err := dev.Alloc(backend.Image(1, 4, 6))
		require.NoError(rt, err)
		defer y.Free()
		require.NoError(rt, dev.Upload(y, random(seed+1, n)))
		rng := rand.New(rand.NewPCG(seed, 2))
		x, report, err := poisoned(dev, y, k, turn(dev, alpha, angle), Options{
			DataStep: rapid.SampledFrom(dataSteps).Draw(rt, "data step"), Tolerance: -1, MaxIterations: 60,
		}, rapid.Bool().Draw(rt, "alone"), written(dev, func(_ int, x []float32) {
			for i := range x {
				x[i] += float32(scale * rng.NormFloat64())
			}
		}))
		require.NoError(rt, err)
		defer x.Free()
		least, before := math.Inf(1), 0.0
		for i, r := range report.Residuals {
			// What was added since is at least the inner error.
			least = math.Min(least, r-(report.Errors[i]-before))
			before = report.Errors[i]
			require.LessOrEqual(rt, least, report.Bound(i)+1e-5)
		}
		out := make([]float32, n)
		require.NoError(rt, dev.Download(out, x))
		for _, v := range out {
			require.True(rt, v >= 0 && v <= 1)
		}
	})
}
