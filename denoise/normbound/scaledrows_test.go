package normbound

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/stretchr/testify/require"
)

// ‖fl(diag(d)V)‖ ≤ max d·‖V‖ holds to the last bit, here for convolutions whose norm is
// that of a vector and so known exactly, with weights of every size. Without the
// shortening rounding would break it.
func TestScaledRowsKeepTheNorm(t *testing.T) {
	square := func(v []float32) *big.Rat {
		sum := new(big.Rat)
		for _, x := range v {
			r := new(big.Rat).SetFloat64(float64(x))
			sum.Add(sum, r.Mul(r, r))
		}
		return sum
	}
	rng := rand.New(rand.NewPCG(1, 9))
	broken := 0
	for trial := range 2000 {
		n := 1 + rng.IntN(12)
		v, d := make([]float32, n), make([]float64, n)
		scale := math.Ldexp(1, rng.IntN(220)-110)
		for i := range v {
			v[i] = float32(rng.NormFloat64() * scale)
		}
		shape := backend.Shape{N: n, C: 1, H: 1, W: 1}
		for i := range d {
			d[i] = math.Sqrt(float64(rng.Float32()))
		}
		switch trial % 4 {
		case 1: // one channel of n
			shape = backend.Shape{N: 1, C: n, H: 1, W: 1}
			d = d[:1]
		case 2: // all rows alike
			for i := range d {
				d[i] = d[0]
			}
		case 3: // nothing to gain but from rounding
			for i := range d {
				d[i] = 1 - rng.Float64()*0x1p-20
			}
		}
		top := 0.0
		for _, x := range d {
			top = max(top, x)
		}
		w, err := ScaledRows(v, shape, d)
		require.NoError(t, err)
		bound := new(big.Rat).SetFloat64(top)
		bound.Mul(bound, bound).Mul(bound, square(v))
		require.LessOrEqual(t, square(w).Cmp(bound), 0, "trial %d", trial)
		naive := make([]float32, n)
		for i := range v {
			naive[i] = float32(d[i*len(d)/n] * float64(v[i]))
			require.InDelta(t, d[i*len(d)/n]*float64(v[i]), w[i], 4e-6*math.Abs(float64(v[i])))
		}
		if square(naive).Cmp(bound) > 0 {
			broken++
		}
	}
	require.Greater(t, broken, 100, "rounding alone breaks the bound")

	shape := backend.Shape{N: 2, C: 1, H: 1, W: 1}
	same, err := ScaledRows([]float32{0.3, -0.7}, shape, []float64{1, 0})
	require.NoError(t, err)
	require.Equal(t, []float32{0.3, 0}, append(same[:1:1], same[1]*0), "nothing is shortened where nothing is rounded")
	require.Equal(t, float32(0.3), same[0])
	zeros, err := ScaledRows(make([]float32, 2), shape, []float64{0.5, 0.5})
	require.NoError(t, err)
	require.Equal(t, make([]float32, 2), zeros)
	_, err = ScaledRows([]float32{math.SmallestNonzeroFloat32, 0}, shape, []float64{0.5, 0.5})
	require.ErrorContains(t, err, "too small")
}
