package averaged

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// requiredAveragedness returns the smallest α for which multiplication by z on the plane is
// α-averaged: |z − (1−α)| ≤ α, so α = |1−z|²/(2·Re(1−z)).
func requiredAveragedness(z complex128) float64 {
	d := 1 - z
	return (real(d)*real(d) + imag(d)*imag(d)) / (2 * real(d))
}

// averagedTurn is (1−α) + α·e^{iφ}: α-averaged and no better.
func averagedTurn(alpha, angle float64) complex128 {
	return complex(1-alpha, 0) + cmplx.Rect(alpha, angle)
}

// Compositions of averaged rotations of the plane keep the constant, whatever the
// angles, and small angles in proportion to α/(1−α) attain it.
func TestCompositionIsValidAndSharp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphas := rapid.SliceOfN(rapid.Float64Range(0.01, 0.99), 1, 6).Draw(t, "alphas")
		bound, older := Composition(alphas...), UniformComposition(alphas...)
		require.LessOrEqual(t, bound, older*(1+1e-12))
		require.Less(t, older, 1.0)
		product := complex128(1)
		for _, a := range alphas {
			product *= averagedTurn(a, rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "angle"))
		}
		if real(1-product) > 1e-7 { // closer to 1, rounding decides
			require.LessOrEqual(t, requiredAveragedness(product), bound*(1+1e-8))
		}
		// A turn with the tangent ε_i at 1 has the angle ε_i/α_i; ε_i is in proportion to
		// α_i/(1−α_i).
		sum := 0.0
		for _, a := range alphas {
			sum += a / (1 - a)
		}
		product = 1
		for _, a := range alphas {
			product *= averagedTurn(a, 1e-4/sum/(1-a))
		}
		require.InEpsilon(t, bound, requiredAveragedness(product), 1e-3)
	})
}

// The same in space, where rotations do not commute, and for pairs of points.
func TestCompositionOfRotationsInSpace(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	rotate := func(v [3]float64, axis [3]float64, angle float64) [3]float64 {
		s, c := math.Sincos(angle)
		dot := axis[0]*v[0] + axis[1]*v[1] + axis[2]*v[2]
		cross := [3]float64{axis[1]*v[2] - axis[2]*v[1], axis[2]*v[0] - axis[0]*v[2], axis[0]*v[1] - axis[1]*v[0]}
		var w [3]float64
		for i := range w {
			w[i] = c*v[i] + s*cross[i] + (1-c)*dot*axis[i]
		}
		return w
	}
	direction := func() (v [3]float64) {
		size := 0.0
		for i := range v {
			v[i] = rng.NormFloat64()
			size += v[i] * v[i]
		}
		for i := range v {
			v[i] /= math.Sqrt(size)
		}
		return v
	}
	for range 20000 {
		m := 2 + rng.IntN(3)
		alphas := make([]float64, m)
		d := direction() // the difference of two points; the maps are linear
		image := d
		for i := range alphas {
			alphas[i] = 0.02 + 0.96*rng.Float64()
			turned := rotate(image, direction(), rng.NormFloat64()*math.Pow(10, -2*rng.Float64()))
			for j := range image {
				image[j] += alphas[i] * (turned[j] - image[j])
			}
		}
		alpha := Composition(alphas...)
		after, moved := 0.0, 0.0
		for j := range image {
			after += image[j] * image[j]
			moved += (d[j] - image[j]) * (d[j] - image[j])
		}
		require.LessOrEqual(t, after, 1-(1-alpha)/alpha*moved+1e-12)
	}
}

func TestEulerStep(t *testing.T) {
	// z ↦ z − h·z is (h/2)-averaged and no better.
	require.Equal(t, requiredAveragedness(complex(1-0.75, 0)), EulerStep(0.75, 1, 1))
	require.Equal(t, 0.5, EulerStep(1, 1, 1))
	require.Equal(t, 1.0, EulerStep(2, 1, 1))
	require.Equal(t, 1.0, EulerStep(0.5, 2, 1))
	require.Equal(t, 0.125, EulerStep(1, 0.5, 1))
	require.Equal(t, 0.0, EulerStep(1, 0, 1))
	require.Equal(t, math.Inf(1), EulerStep(math.Nextafter(2, 3), 1, 1))
	require.Greater(t, EulerStep(1e-200, 1e-200, 1), 0.0, "rounded up, not to the identity")
	for _, bad := range [][3]float64{{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}, {math.NaN(), 1, 1}, {1, math.NaN(), 1}, {1, math.Inf(1), 0}, {math.Inf(1), 0, 1}} {
		require.Equal(t, math.Inf(1), EulerStep(bad[0], bad[1], bad[2]))
	}
}

func TestRelaxation(t *testing.T) {
	require.Equal(t, 0.3, Relaxation(1, 0.3))
	require.Equal(t, 1.0, Relaxation(1, 1))
	require.Equal(t, 0.7, Relaxation(0.7, 1))
	require.Equal(t, 0.0, Relaxation(0, 5))
	require.Equal(t, 0.0, Relaxation(0.5, 0))
	require.InEpsilon(t, 0.75, Relaxation(0.5, 1.5), 1e-14)
	for _, bad := range [][2]float64{{1, 1.01}, {0.6, 2}, {0.5, -0.1}, {math.Inf(1), 0.5}, {math.NaN(), 0.5}, {0.5, math.NaN()}, {-0.1, 0.5}} {
		require.Equal(t, math.Inf(1), Relaxation(bad[0], bad[1]), "%v", bad)
	}
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.Float64Range(0.01, 1).Draw(t, "alpha")
		lambda := rapid.Float64Range(0.01, 1/alpha).Draw(t, "lambda")
		z := averagedTurn(alpha, rapid.Float64Range(0.01, math.Pi).Draw(t, "angle"))
		relaxed := complex(1-lambda, 0) + complex(lambda, 0)*z
		require.InEpsilon(t, lambda*alpha, requiredAveragedness(relaxed), 1e-6)
		if bound := Relaxation(alpha, lambda); lambda*alpha < 1-1e-12 {
			require.GreaterOrEqual(t, bound, lambda*alpha)
			require.InEpsilon(t, lambda*alpha, bound, 1e-14)
		}
	})
}

func TestCompositionsAtTheirLimits(t *testing.T) {
	for name, compose := range map[string]func(...float64) float64{
		"sharp": Composition, "uniform": UniformComposition,
	} {
		require.Equal(t, 0.0, compose(), name)
		require.Equal(t, 0.0, compose(0, 0), name)
		require.Equal(t, 1.0, compose(0.5, 1, 0.2), name)
		require.Equal(t, 1.0, compose(1), name)
		require.InEpsilon(t, 2./3, compose(0.5, 0.5), 1e-14, name)
		require.InEpsilon(t, 0.3, compose(0.3), 1e-14, name)
		require.GreaterOrEqual(t, compose(0.3), 0.3, name)
		for _, bad := range []float64{-0.1, 1.0001, math.NaN(), math.Inf(1)} {
			require.Equal(t, math.Inf(1), compose(0.5, bad), name)
			require.Equal(t, math.Inf(1), compose(1, bad), name)
			require.Equal(t, math.Inf(1), compose(bad, 1), name)
		}
		// Deep and nearly nonexpansive: close to 1, never above.
		deep := make([]float64, 1000)
		for i := range deep {
			deep[i] = math.Nextafter(1, 0)
		}
		require.LessOrEqual(t, compose(deep...), 1.0, name)
		require.Greater(t, compose(deep...), 1-1e-15, name)
	}
	require.InEpsilon(t, 10./11, UniformComposition(.5, .5, .5, .5, .5, .5, .5, .5, .5, .5), 1e-14)
	require.InEpsilon(t, 1./3, Composition(0.25, 1./7, 0), 1e-14)
}

// Composition is tested by what it claims: α-averaged means that
// (1−α)/α·‖(x−Tx) − (y−Ty)‖² ≤ ‖x−y‖² − ‖Tx−Ty‖².
func TestComposedMapsAreAveraged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Float64Range(0.01, 0.99)
		a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
		p, q := rapid.Float64Range(0, 7).Draw(rt, "p"), rapid.Float64Range(0, 7).Draw(rt, "q")
		alpha := Composition(a, b)
		require.True(rt, alpha > 0 && alpha < 1)
		rotate := func(x [2]float64, alpha, angle float64) [2]float64 {
			s, c := math.Sincos(angle)
			return [2]float64{(1-alpha)*x[0] + alpha*(c*x[0]-s*x[1]), (1-alpha)*x[1] + alpha*(s*x[0]+c*x[1])}
		}
		// Linear maps: y = 0.
		x := [2]float64{1, 0}
		tx := rotate(rotate(x, a, p), b, q)
		moved := (x[0]-tx[0])*(x[0]-tx[0]) + (x[1]-tx[1])*(x[1]-tx[1])
		require.LessOrEqual(rt, (1-alpha)/alpha*moved, 1-(tx[0]*tx[0]+tx[1]*tx[1])+1e-12)
	})
}
