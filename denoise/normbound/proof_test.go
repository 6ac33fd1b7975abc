package normbound

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/internal/parallel"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// G is F*F of the definition, within the slack.
func TestGramIsWithinItsSlack(t *testing.T) {
	pool := parallel.New(2)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		shape := filterShape(
			rapid.IntRange(1, 6).Draw(t, "out"), rapid.IntRange(1, 6).Draw(t, "in"),
			2*rapid.IntRange(0, 2).Draw(t, "dy")+1, 2*rapid.IntRange(0, 2).Draw(t, "dx")+1)
		w := gaussianWeights(rapid.Uint64().Draw(t, "seed"), shape, 1)
		g, exponent, err := newScaledGram(t.Context(), w, shape, DefaultTolerance, pool)
		require.NoError(t, err)
		c := cell{
			rapid.IntRange(0, max(0, finestOfAll*g.dy-1)).Draw(t, "y"),
			rapid.IntRange(0, max(0, finestOfAll*g.dx-1)).Draw(t, "x"),
		}
		h := newHermitian(g.n)
		g.evaluate(c, h)
		f := direct(w, shape,
			2*math.Pi*float64(c.y)/float64(max(1, finestOfAll*g.dy)),
			2*math.Pi*float64(c.x)/float64(max(1, finestOfAll*g.dx)))
		product := func(i, j int) (sum complex128) {
			if shape.C <= shape.N {
				for o := range f {
					sum += cmplx.Conj(f[o][i]) * f[o][j]
				}
				return sum
			}
			for k := range f[i] { // of the transpose of F
				sum += cmplx.Conj(f[i][k]) * f[j][k]
			}
			return sum
		}
		k := 0
		for i := range g.n {
			for j := i; j < g.n; j++ {
				want := product(i, j) * complex(math.Ldexp(1, -2*exponent), 0)
				require.LessOrEqual(t, cmplx.Abs(complex(h.re[k], h.im[k])-want), g.slack)
				k++
			}
		}
		// The slack is far below anything that shows in the bound.
		require.Less(t, g.slack, 1e-10*g.tau)
	})
}

// What the compass climbs is v*G(θ)v, and it never goes down.
func TestCompassClimbsTheQuotient(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	shape := filterShape(5, 4, 3, 5)
	for seed := range uint64(20) {
		g, _, err := newScaledGram(t.Context(), gaussianWeights(seed, shape, 1), shape, DefaultTolerance, pool)
		require.NoError(t, err)
		h, p := newHermitian(g.n), newPower(g.n)
		quotient := func(c cell) float64 {
			g.evaluate(c, h)
			p.multiply(h)
			sum := 0.0
			for i := range p.re {
				sum += p.re[i]*p.nextRe[i] + p.im[i]*p.nextIm[i]
			}
			return sum
		}
		start := cell{int(seed) * 100, int(seed) * 70}
		g.evaluate(start, h)
		p.iterate(h, 3)
		at, value := g.compass(p, start)
		require.InEpsilon(t, quotient(at), value, 1e-12)
		require.Greater(t, value, quotient(start))
		for _, next := range g.cut([]cell{at}, 1) {
			require.LessOrEqual(t, quotient(next), value*(1+1e-12), "a maximum of the lattice")
		}
	}
}

// exactly returns Σ a_i a_i*, elements small integers: no rounding.
func exactly(n int, vectors ...[]complex128) *hermitian {
	h := newHermitian(n)
	for _, v := range vectors {
		k := 0
		for i := range n {
			for j := i; j < n; j++ {
				p := v[i] * cmplx.Conj(v[j])
				h.re[k] += real(p)
				h.im[k] += imag(p)
				k++
			}
		}
	}
	return h
}

func TestPositiveDefiniteIsAProof(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		v := make([]complex128, n)
		top := 0.0
		for i := range v {
			re, im := rapid.IntRange(-9, 9).Draw(t, "re"), rapid.IntRange(-9, 9).Draw(t, "im")
			v[i] = complex(float64(re), float64(im))
			top += float64(re*re + im*im)
		}
		if top == 0 {
			v[0], top = 1, 1
		}
		// λ_max of v·v* is |v|², an integer.
		proven := func(square, slack float64) bool { return exactly(n, v).positiveDefinite(square, slack) }
		require.False(t, proven(top, 0), "singular")
		require.False(t, proven(math.Nextafter(top, 0), 0))
		require.False(t, proven(top*(1-1e-9), 0))
		require.True(t, proven(top*(1+1e-12), 0))
		require.False(t, proven(top*(1+1e-6), top*2e-6), "slack is taken off")
		require.True(t, proven(top*(1+1e-6), top*0.9e-6))
		require.False(t, proven(math.NaN(), 0))
	})
}

func TestCholeskyOfRandomMatricesAgreesWithEigenvalues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 40; n += 3 {
		vectors := make([][]complex128, n)
		for i := range vectors {
			vectors[i] = make([]complex128, n)
			for j := range vectors[i] {
				vectors[i][j] = complex(float64(rng.IntN(19)-9), float64(rng.IntN(19)-9))
			}
		}
		h := exactly(n, vectors...)
		real2 := mat.NewSymDense(2*n, nil)
		k := 0
		for i := range n {
			for j := i; j < n; j++ {
				real2.SetSym(i, j, h.re[k])
				real2.SetSym(n+i, n+j, h.re[k])
				real2.SetSym(i, n+j, -h.im[k])
				real2.SetSym(j, n+i, h.im[k])
				k++
			}
		}
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(real2, false))
		top := eigen.Values(nil)[2*n-1]
		require.False(t, exactly(n, vectors...).positiveDefinite(top*(1-1e-12), 0))
		require.True(t, exactly(n, vectors...).positiveDefinite(top*(1+1e-10), 0))
	}
}
