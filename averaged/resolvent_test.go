package averaged

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The proximal map of E(v) = ½d²v² is x/(1 + t) with t = step·d²: it is averaged with the
// constant, and with no smaller one where d is the norm.
func TestProximal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step, norm := rapid.Float64Range(1e-6, 1e6).Draw(t, "step"), rapid.Float64Range(1e-3, 1e3).Draw(t, "norm")
		alpha := Proximal(step, norm)
		require.True(t, alpha > 0 && alpha <= Firm)
		d := norm * rapid.Float64Range(0, 1).Draw(t, "share")
		if z := 1 / (1 + step*d*d); z < 1-1e-6 { // closer to 1, rounding decides
			require.LessOrEqual(t, requiredAveragedness(complex(z, 0)), alpha*(1+1e-9))
		}
		exact := step * norm * norm / (1 + step*norm*norm) / 2
		require.InEpsilon(t, exact, alpha, 1e-14)
		require.GreaterOrEqual(t, alpha, min(Firm, exact*(1+2*unit)), "rounded up by more than its own rounding")
	})
	require.Zero(t, Proximal(1, 0))
	for _, bad := range [][2]float64{{-1, 1}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}, {math.Inf(1), 0}} {
		require.Equal(t, math.Inf(1), Proximal(bad[0], bad[1]))
	}
}

// −q·id is a contraction that attains (1+q)/2, and q·(−id) + (1−q)·constant as well.
func TestContractionsAndCombinations(t *testing.T) {
	for _, q := range []float64{0, 0.1, 0.5, 0.98, 1} {
		require.InDelta(t, requiredAveragedness(complex(-q, 0)), Contraction(q), 1e-14)
		require.GreaterOrEqual(t, Contraction(q), requiredAveragedness(complex(-q, 0)))
		require.InDelta(t, (1+q)/2, Combination(q, 1, Firm), 1e-14)
	}
	require.Equal(t, 1.0, Contraction(1))
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		require.Equal(t, math.Inf(1), Contraction(bad))
		require.Equal(t, math.Inf(1), Combination(bad, 0.5, 0.5))
		require.Equal(t, math.Inf(1), Combination(0.5, bad, 0.5))
		require.Equal(t, math.Inf(1), Combination(0.5, 0.5, bad))
	}
	rapid.Check(t, func(t *rapid.T) {
		number, angle := rapid.Float64Range(0.01, 0.99), rapid.Float64Range(-3, 3)
		q, a, b := number.Draw(t, "q"), number.Draw(t, "a"), number.Draw(t, "b")
		z := complex(q, 0)*averagedTurn(a, angle.Draw(t, "φ")) + complex(1-q, 0)*averagedTurn(b, angle.Draw(t, "ψ"))
		if real(1-z) > 1e-7 {
			require.LessOrEqual(t, requiredAveragedness(z), Combination(q, a, b)*(1+1e-8))
		}
	})
}

// Rotations, for which iterates and residuals are known, keep the bounds.
func TestBoundsOfIterations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alpha, angle := rapid.Float64Range(0.01, 0.99).Draw(t, "α"), rapid.Float64Range(0.01, 3.1).Draw(t, "φ")
		z := averagedTurn(alpha, angle)
		x, size := complex(1, 0), func(z complex128) float64 { return math.Hypot(real(z), imag(z)) }
		for k := range 20 {
			require.LessOrEqual(t, size(x-z*x), ResidualBound(alpha, k, 1)*(1+1e-12))
			x *= z
		}
		turn := averagedTurn(1, angle)
		x = 1
		for k := range 20 {
			require.LessOrEqual(t, size(x-turn*x), HalpernBound(k, 1)*(1+1e-12))
			x = (1 + complex(float64(k+1), 0)*turn*x) / complex(float64(k+2), 0)
		}
		// The fixed point of q·turn is 0.
		q := rapid.Float64Range(0, 0.99).Draw(t, "q")
		contraction := complex(q, 0) * turn
		require.LessOrEqual(t, size(contraction*x), FixedPointBound(q, size(x-contraction*x))*(1+1e-12)+1e-300)
	})
	require.Equal(t, math.Inf(1), ResidualBound(1, 3, 1))
	require.Equal(t, math.Inf(1), FixedPointBound(1, 1))
	require.InEpsilon(t, 3.0, FixedPointBound(0.75, 1), 1e-15, "0.75/(1 − 0.75)")
	require.InEpsilon(t, math.Sqrt(0.5), ResidualBound(0.5, 1, 1), 1e-15)
}
