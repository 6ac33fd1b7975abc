package anscombe

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func drawTransform(t *rapid.T) (*Transform, float64, float64) {
	a := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log10 a"))
	read := rapid.SampledFrom([]float64{0, .01, .5, 2, 15, 25, 300}).Draw(t, "read noise") // in electrons
	b := read * read * a * a
	tr, err := New(a, b)
	require.NoError(t, err)
	return tr, a, b
}

// The inverse undoes the mean, increases, and goes on without a jump below the mean of no light.
func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, a, _ := drawTransform(t)
		e := math.Pow(10, rapid.Float64Range(-3, 5).Draw(t, "log10 electrons"))
		require.InEpsilon(t, e*a, tr.Inverse(tr.Mean(e*a)), 1e-6)
		require.InDelta(t, 0, tr.Inverse(tr.Mean(0)), 1e-6*a)
		low := tr.Mean(0) - 1
		step := rapid.Float64Range(.001, .05).Draw(t, "step")
		before := tr.Inverse(low)
		for d := low + step; d < low+60*step; d += step {
			x := tr.Inverse(d)
			require.Greater(t, x, before)
			before = x
		}
	})
}

// Far above the noise of reading the inverse is the closed form of Mäkitalo and Foi (2013), equation 10, which
// they state for a = 1.
func TestClosedForm(t *testing.T) {
	for _, sd := range []float64{0, .1, 1, 3} {
		tr, err := New(1, sd*sd)
		require.NoError(t, err)
		for _, e := range []float64{5, 20, 89, 101, 1000, 1e5} {
			d := tr.Mean(e)
			r := math.Sqrt(3. / 2)
			closed := d*d/4 + r/4/d - 11./8/d/d + 5./8*r/d/d/d - 1./8 - sd*sd
			require.InDelta(t, closed, tr.Inverse(d), .03, "%g electrons, read noise %g", e, sd)
		}
	}
}

// The sum and the series agree where one takes over from the other.
func TestSeries(t *testing.T) {
	for _, read := range []float64{0, 1, 50, 99} {
		tr, err := New(2, 4*read)
		require.NoError(t, err)
		e := exactBelow - read
		require.InDelta(t, tr.summedMean(e), tr.seriesMean(e), 2e-5)
	}
	tr, err := New(1e-3, 1)
	require.NoError(t, err)
	require.Empty(t, tr.means)
	require.InDelta(t, 2*1000, tr.Mean(0), 1e-3)
}

// Readings that are drawn have a mean transform whose inverse is their light, while the algebraic
// inverse is too dark; and the transform has variance 1.
func TestUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ a, sd, electrons float64 }{{.25, 0, .5}, {.25, .5, 1}, {4, 4, 2}, {4, 20, 3}, {1, 2, 8}, {2, 3, 40}} {
		tr, err := New(c.a, c.sd*c.sd)
		require.NoError(t, err)
		const n = 200_000
		poisson := distuv.Poisson{Lambda: c.electrons, Src: r}
		var sum, squares float64
		for range n {
			d := tr.Forward(c.a*poisson.Rand() + c.sd*r.NormFloat64())
			sum += d
			squares += d * d
		}
		mean := sum / n
		variance := squares/n - mean*mean
		// The standard error of the mean of the transform, through the slope of the inverse.
		slope := (tr.Inverse(mean+.01) - tr.Inverse(mean-.01)) / .02
		bound := 4 * math.Sqrt(variance/n) * slope
		light := c.a * c.electrons
		require.InDelta(t, light, tr.Inverse(mean), bound, c)
		algebraic := c.a * (mean*mean/4 - 3./8 - c.sd*c.sd/c.a/c.a)
		require.Less(t, algebraic, light-bound, c)
		if c.electrons+c.sd*c.sd/c.a/c.a > 9 {
			require.InDelta(t, 1, variance, .05, c)
		}
	}
}

func TestLimits(t *testing.T) {
	gaussian, err := New(0, 4)
	require.NoError(t, err)
	require.Equal(t, 3., gaussian.Forward(6))
	require.Equal(t, -6., gaussian.Inverse(-3))
	require.Equal(t, 3., gaussian.Mean(6))

	// As a becomes 0, differences become those of that.
	nearly, err := New(1e-5, 4)
	require.NoError(t, err)
	require.InDelta(t, 3, nearly.Forward(6)-nearly.Forward(0), 1e-3)
	require.InDelta(t, 6, nearly.Inverse(nearly.Mean(0)+3), 1e-3)

	// Poisson noise alone: Anscombe's own transform.
	poisson, err := New(1, 0)
	require.NoError(t, err)
	require.InDelta(t, 2*math.Sqrt(10+3./8), poisson.Forward(10), 1e-12)
	require.Zero(t, poisson.Forward(-1))
	require.InDelta(t, 2*math.Sqrt(3./8), poisson.Mean(0), 1e-12)

	for _, c := range [][2]float64{{0, 0}, {-1, 1}, {1, -1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		_, err := New(c[0], c[1])
		require.Error(t, err)
	}
}
