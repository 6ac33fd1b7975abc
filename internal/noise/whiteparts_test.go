package noise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func TestCosineBasisIsOrthonormal(t *testing.T) {
	basis := CosineBasis()
	b := mat.NewDense(patchSide, patchSide, nil)
	for u := range basis {
		for x := range basis[u] {
			b.Set(u, x, float64(basis[u][x]))
		}
	}
	var product mat.Dense
	product.Mul(b, b.T())
	for i := range patchSide {
		for j := range patchSide {
			want := 0.0
			if i == j {
				want = 1
			}
			require.InDelta(t, want, product.At(i, j), 1e-6)
		}
	}
}

// A basis function belongs to one band, with its energy.
func TestTransformSortsFrequencies(t *testing.T) {
	basis := CosineBasis()
	texture, noise := 0, 0
	for u := range basis {
		for v := range basis {
			pix := make([]float32, patchSide*patchSide)
			for i := range pix {
				pix[i] = 0.5 + basis[u][i%patchSide]*basis[v][i/patchSide]
			}
			var p patch
			transform(pix, patchSide, &basis, valueRange{low: -9, high: 9}, &p)
			energy := 0.0
			for _, f := range p.noise {
				energy += float64(f) * float64(f)
			}
			switch {
			case u+v == 0:
				require.True(t, p.constant)
				require.InDelta(t, 0.625, p.mean, 1e-6)
			case u+v <= textureBand:
				texture++
				require.InDelta(t, 1, p.texture, 1e-5)
				require.InDelta(t, 0, energy, 1e-9)
			case u+v >= noiseBand:
				noise++
				require.InDelta(t, 0, p.texture, 1e-9)
				require.InDelta(t, 1, energy, 1e-5)
			default:
				require.InDelta(t, 0, float64(p.texture)+energy, 1e-9)
			}
		}
	}
	require.Equal(t, textureTerms, texture)
	require.Equal(t, noiseTerms, noise)
}

func TestGridIsBoundedAndOdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		height := rapid.IntRange(patchSide, 20000).Draw(t, "height")
		width := rapid.IntRange(patchSide, 20000).Draw(t, "width")
		stride := gridStride(height, width)
		count := func(stride int) int {
			return ((height-patchSide)/stride + 1) * ((width-patchSide)/stride + 1)
		}
		require.Equal(t, 1, stride%2)
		require.LessOrEqual(t, count(stride), maxPatches)
		if stride > 1 {
			require.Greater(t, count(stride-2), maxPatches)
		}
	})
}

// The moments of the clipped normal distribution, against quadrature.
func TestClippingCurve(t *testing.T) {
	for _, r := range []valueRange{
		{low: 0, high: 1, clippedBelow: true, clippedAbove: true},
		{low: 0, high: 1, clippedBelow: true},
		{low: 0, high: 1, clippedAbove: true},
	} {
		for _, sigma := range []float64{0.02, 0.15, 0.6} {
			low, high := math.Inf(-1), math.Inf(1)
			if r.clippedBelow {
				low = 0
			}
			if r.clippedAbove {
				high = 1
			}
			curve := newClippingCurve(r, sigma)
			require.True(t, slices.IsSorted(curve.means))
			for _, mu := range []float64{-sigma / 2, 0, 0.1, sigma, 0.5, 0.9, 1, 1 + sigma/2} {
				moment := func(f func(x float64) float64) float64 {
					integrand := func(n float64) float64 {
						return f(min(max(mu+sigma*n, low), high)) * density(n)
					}
					// Split where the integrand has kinks.
					a := min(max((low-mu)/sigma, -9), 9)
					b := min(max((high-mu)/sigma, -9), 9)
					sum := 0.0
					for _, piece := range [][2]float64{{-9, a}, {a, b}, {b, 9}} {
						if piece[0] < piece[1] {
							sum += quad.Fixed(integrand, piece[0], piece[1], 200, nil, 0)
						}
					}
					return sum
				}
				mean := moment(func(x float64) float64 { return x })
				variance := moment(func(x float64) float64 { return (x - mean) * (x - mean) })
				require.InDelta(t, math.Sqrt(variance)/sigma, curve.share(mean), 5e-4, "%+v σ %g μ %g", r, sigma, mu)
			}
		}
	}
}

func TestSelectedIsAsSorted(t *testing.T) {
	require.Zero(t, selected[float32](nil, 0))
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-3, 3), 1, 200).Draw(t, "values")
		if rapid.Bool().Draw(t, "ties") {
			for i := range v {
				v[i] = float32(math.Round(float64(v[i])))
			}
		}
		sorted := slices.Sorted(slices.Values(v))
		require.Equal(t, sorted[len(sorted)/2], selected(v, len(v)/2))
		k := rapid.IntRange(0, len(v)-1).Draw(t, "k")
		require.Equal(t, sorted[k], selected(v, k))
		slices.Sort(v[:k])
		require.Equal(t, sorted[:k], v[:k])
	})
}

func TestScan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	plane := make([]float32, 40000)
	for i := range plane {
		plane[i] = float32(0.2 + 0.3*random.NormFloat64())
	}
	r, err := scan(plane)
	require.NoError(t, err)
	require.Equal(t, valueRange{low: slices.Min(plane), high: slices.Max(plane)}, r)
	for i := range plane {
		plane[i] = max(plane[i], 0)
	}
	r, err = scan(plane)
	require.NoError(t, err)
	require.Equal(t, valueRange{high: slices.Max(plane), clippedBelow: true}, r)
}

// The median of patches chosen by their low frequencies is unbiased for noise.
func TestSelectionDoesNotBias(t *testing.T) {
	const height, width = 400, 400
	pix := addNoise(make([]float32, height*width), 1, 7)
	r, err := scan(pix)
	require.NoError(t, err)
	s := sample(pix, 1, height, width, []valueRange{r})
	flat := s.flattest(-1) // the flattest 3 %
	require.Len(t, flat.index, int(math.Ceil(flatShare*float64(s.count))))
	require.InDelta(t, 1, s.deviation(flat, axis{1}), 0.03)
	require.InDelta(t, 1, s.homogeneity(flat, axis{1}), 0.1)
}
