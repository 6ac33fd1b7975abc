package pnp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A quarter turn is nonexpansive and no more. Drawn towards the start it is a contraction,
// whose fixed point (1−q)·x₀/(1−q·i), two elements as a complex number, lies within the error
// bar of every acceleration at any time, and is reached.
func TestContractionReachesItsFixedPointWithinTheErrorBar(t *testing.T) {
	dev := newDevice(t)
	const h, w = 3, 4
	k := diagonal{dev, h, w, make([]float32, h*w)}
	k.d[0] = 1e-4
	y := upload(t, dev, h, w, make([]float32, h*w))
	from := random(4, h*w)
	start := upload(t, dev, h, w, from)
	quarter := function{dev, 1, true, func(x []float32) []float32 {
		for i := 0; i < len(x); i += 2 {
			x[i], x[i+1] = -x[i+1], x[i]
		}
		return x
	}}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		want := make([]float64, h*w)
		for i := 0; i < h*w; i += 2 {
			z := complex(1-q, 0) * complex(float64(from[i]), float64(from[i+1])) / complex(1, -q)
			want[i], want[i+1] = real(z), imag(z)
		}
		for _, a := range accelerations {
			for _, n := range []int{1, 3, 30, 3000} {
				x, report, err := Solve(t.Context(), dev, y, k, quarter, Options{
					Start: start, Step: 1, Constraint: Unconstrained, Acceleration: a, Tolerance: -1, MaxIterations: n, Contraction: q})
				require.NoError(t, err)
				require.InDelta(t, q, report.Certificate.Contraction, 1e-12)
				require.True(t, report.Certificate.Converges())
				require.True(t, report.Certificate.FixedPointExists())
				require.Contains(t, report.Certificate.String(), "Browder")
				square := 0.0
				for i, v := range download(t, dev, x) {
					square += (float64(v) - want[i]) * (float64(v) - want[i])
				}
				x.Free()
				distance := math.Sqrt(square)
				// The bar tells nothing of rounding, which is of the order of 1e-6/(1−q).
				require.LessOrEqual(t, distance, report.ErrorBar+1e-6/(1-q), "q = %v, acceleration %d, %d iterations", q, a, n)
				// The moves of Momentum drive a turn, and take longer than this to fade.
				if n == 3000 && a != Momentum {
					near := 1e-6 / (1 - q)
					if a == Halpern {
						near = 0.01 // its residual falls as 1/k
					}
					require.Less(t, distance, near, "q = %v, acceleration %d", q, a)
				}
			}
		}
	}
}

// The averagedness that is claimed is attained: of T = −x, which is nonexpansive, T_q is
// −q·x + constant, and (1+q)/2-averaged with no smaller constant.
func TestContractionOfKnownParts(t *testing.T) {
	for _, q := range []float64{0.1, 0.5, 0.98} {
		c := certify(parts{denoiser: claim{1, true, 1}, norm: 1, reason: "given", step: 1, constraint: Unconstrained, contraction: q})
		require.InDelta(t, (1+float64(onDevice(q)))/2, c.Averagedness, 1e-12)
		require.InDelta(t, q, c.Contraction, 1e-12)
		// ½-averaged stays so, and the constants of two contractions multiply.
		c = certify(parts{denoiser: claim{0.5, true, 0.8}, norm: 1, reason: "given", step: 1, constraint: UnitBox, contraction: q})
		require.InDelta(t, 0.8*q, c.Contraction, 1e-12)
		require.Less(t, c.Averagedness, 1.0)
		// Of what nothing is proven, nothing is claimed.
		c = certify(parts{denoiser: claim{0.5, false, 0.8}, norm: 1, reason: "given", step: 1, constraint: UnitBox, contraction: q})
		require.False(t, c.Proven)
		require.True(t, math.IsInf(c.Contraction, 1))
		require.True(t, math.IsInf(c.errorBar(1, 0), 1))
	}
}

func TestContractionIsBelowOne(t *testing.T) {
	dev := newDevice(t)
	y, k, phi := line(t, dev, 0.75, func(x float64) float64 { return x / 2 })
	for _, q := range []float64{-0.1, 1, math.NaN(), math.Inf(1)} {
		_, _, err := Solve(t.Context(), dev, y, k, phi, Options{Contraction: q})
		require.ErrorContains(t, err, "Contraction is out of range")
	}
}
