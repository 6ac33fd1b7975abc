package normbound

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func filterShape(out, in, kh, kw int) backend.Shape {
	return backend.Shape{N: out, C: in, H: kh, W: kw}
}

func gaussianWeights(seed uint64, shape backend.Shape, scale float64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := make([]float32, shape.Len())
	for i := range w {
		w[i] = float32(rng.NormFloat64() * scale)
	}
	return w
}

// at is the index of a weight.
func at(shape backend.Shape, o, i, ky, kx int) int {
	return ((o*shape.C+i)*shape.H+ky)*shape.W + kx
}

// direct returns F(θ) by its definition.
func direct(w []float32, shape backend.Shape, ty, tx float64) [][]complex128 {
	f := make([][]complex128, shape.N)
	for o := range f {
		f[o] = make([]complex128, shape.C)
	}
	for ky := range shape.H {
		for kx := range shape.W {
			wave := cmplx.Exp(complex(0, float64(ky-shape.H/2)*ty+float64(kx-shape.W/2)*tx))
			for o := range f {
				for i := range f[o] {
					f[o][i] += wave * complex(float64(w[at(shape, o, i, ky, kx)]), 0)
				}
			}
		}
	}
	return f
}

// largestSingularValue returns σ_max of a complex matrix from the SVD of the real
// matrix of twice the size.
func largestSingularValue(t require.TestingT, f [][]complex128) float64 {
	rows, cols := len(f), len(f[0])
	m := mat.NewDense(2*rows, 2*cols, nil)
	for i := range rows {
		for j := range cols {
			re, im := real(f[i][j]), imag(f[i][j])
			m.Set(i, j, re)
			m.Set(i, cols+j, -im)
			m.Set(rows+i, j, im)
			m.Set(rows+i, cols+j, re)
		}
	}
	var svd mat.SVD
	require.True(t, svd.Factorize(m, mat.SVDNone))
	return svd.Values(nil)[0]
}

// symbolMaximum returns the largest σ_max over a grid of n×n frequencies, refined around
// the best of them: a lower bound of S, close to it.
func symbolMaximum(t require.TestingT, w []float32, shape backend.Shape, n int) float64 {
	value := func(ty, tx float64) float64 { return largestSingularValue(t, direct(w, shape, ty, tx)) }
	top, by, bx := 0.0, 0.0, 0.0
	for y := range n {
		for x := range n/2 + 1 {
			ty, tx := 2*math.Pi*float64(y)/float64(n), 2*math.Pi*float64(x)/float64(n)
			if v := value(ty, tx); v > top {
				top, by, bx = v, ty, tx
			}
		}
	}
	for step := math.Pi / float64(n); step > 1e-5; {
		moved := false
		for _, d := range [][2]float64{{step, 0}, {-step, 0}, {0, step}, {0, -step}} {
			if v := value(by+d[0], bx+d[1]); v > top*(1+1e-13) {
				top, by, bx, moved = v, by+d[0], bx+d[1], true
			}
		}
		if !moved {
			step /= 2
		}
	}
	return top
}

// denseNorm returns ‖A‖ of h×w images from the SVD of A's matrix.
func denseNorm(t require.TestingT, w []float32, shape backend.Shape, h, width int) float64 {
	plane := h * width
	m := mat.NewDense(shape.N*plane, shape.C*plane, nil)
	for o := range shape.N {
		for i := range shape.C {
			for ky := range shape.H {
				for kx := range shape.W {
					for y := range h {
						for x := range width {
							sy, sx := y+ky-shape.H/2, x+kx-shape.W/2
							if sy >= 0 && sy < h && sx >= 0 && sx < width {
								m.Set(o*plane+y*width+x, i*plane+sy*width+sx, float64(w[at(shape, o, i, ky, kx)]))
							}
						}
					}
				}
			}
		}
	}
	var svd mat.SVD
	require.True(t, svd.Factorize(m, mat.SVDNone))
	return svd.Values(nil)[0]
}

// prove tells whether bound > S is proven for the weights, with diamonds down to the
// given density.
func prove(t require.TestingT, w []float32, shape backend.Shape, bound float64, finest int) bool {
	pool := parallel.New(0)
	defer pool.Close()
	g, exponent, err := newScaledGram(context.Background(), w, shape, DefaultTolerance, pool)
	require.NoError(t, err)
	require.NotNil(t, g)
	proof := subdivision{gram: g, pool: pool, bound: math.Ldexp(bound, -exponent), finest: finest}
	failed, err := proof.run(context.Background())
	require.NoError(t, err)
	return failed == nil
}

// Convolutions whose S is known exactly.
func TestConvolutionNormOfKnownFilters(t *testing.T) {
	one := func(kh, kw int, w ...float32) ([]float32, backend.Shape) { return w, filterShape(1, 1, kh, kw) }
	for _, c := range []struct {
		name string
		make func() ([]float32, backend.Shape)
		norm float64
	}{
		{"identity, 1×1", func() ([]float32, backend.Shape) { return one(1, 1, 1) }, 1},
		{"scaled", func() ([]float32, backend.Shape) { return one(1, 1, -3.5) }, 3.5},
		{"identity, 3×3", func() ([]float32, backend.Shape) { return one(3, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0) }, 1},
		{"corner tap", func() ([]float32, backend.Shape) { return one(3, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0) }, 2},
		{"difference", func() ([]float32, backend.Shape) { return one(1, 3, -1, 1, 0) }, 2},
		{"difference, column", func() ([]float32, backend.Shape) { return one(3, 1, 0, -1, 1) }, 2},
		{"central difference", func() ([]float32, backend.Shape) { return one(1, 3, -.5, 0, .5) }, 1},
		{"Laplacian", func() ([]float32, backend.Shape) { return one(3, 3, 0, 1, 0, 1, -4, 1, 0, 1, 0) }, 8},
		{"box", func() ([]float32, backend.Shape) { return one(3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1) }, 9},
		// σ_max is |cos(θy + θx)|: largest on lines between the diamonds' centres, where a
		// factor cos(πd/N) per variable would not be valid cell by cell.
		{"diagonal wave", func() ([]float32, backend.Shape) { return one(3, 3, .5, 0, 0, 0, 0, 0, 0, 0, .5) }, 1},
		{"antidiagonal wave", func() ([]float32, backend.Shape) { return one(3, 3, 0, 0, .5, 0, 0, 0, -.5, 0, 0) }, 1},
		{"wave of degree 2", func() ([]float32, backend.Shape) { return one(1, 5, .5, 0, 0, 0, .5) }, 1},
		{"5×5 box", func() ([]float32, backend.Shape) {
			w := make([]float32, 25)
			for i := range w {
				w[i] = 1
			}
			return w, filterShape(1, 1, 5, 5)
		}, 25},
		{"gradient", func() ([]float32, backend.Shape) {
			// Two outputs, differences along rows and columns: S² = 4 + 4.
			s := filterShape(2, 1, 3, 3)
			w := make([]float32, s.Len())
			w[at(s, 0, 0, 1, 1)], w[at(s, 0, 0, 1, 2)] = -1, 1
			w[at(s, 1, 0, 1, 1)], w[at(s, 1, 0, 2, 1)] = -1, 1
			return w, s
		}, math.Sqrt(8)},
		{"shifts of channels", func() ([]float32, backend.Shape) {
			// A permutation of channels, each shifted another way: an isometry.
			s := filterShape(4, 4, 3, 3)
			w := make([]float32, s.Len())
			for i := range 4 {
				w[at(s, (i+1)%4, i, i%3, (2*i)%3)] = 1
			}
			return w, s
		}, 1},
		{"rank one", func() ([]float32, backend.Shape) {
			// Every channel to every channel with one and the same box: ‖1·1ᵀ‖·9.
			s := filterShape(5, 3, 3, 3)
			w := make([]float32, s.Len())
			for i := range w {
				w[i] = 1
			}
			return w, s
		}, 9 * math.Sqrt(15)},
	} {
		w, shape := c.make()
		for _, tolerance := range []float64{0, 1e-3, 0.05, 1} {
			b, err := Prove(t.Context(), w, shape, tolerance)
			require.NoError(t, err, c.name)
			if tolerance == 0 {
				tolerance = DefaultTolerance
			}
			require.GreaterOrEqual(t, b.Upper, c.norm, "%s, tolerance %v", c.name, tolerance)
			require.LessOrEqual(t, b.Lower, c.norm*(1+1e-15), "%s, tolerance %v", c.name, tolerance)
			require.LessOrEqual(t, b.Upper, b.Lower*(1+tolerance)*(1+1e-12), "%s, tolerance %v", c.name, tolerance)
			require.NoError(t, Verify(t.Context(), w, shape, max(b.Upper, c.norm*1.003)), c.name)
		}
		require.False(t, prove(t, w, shape, c.norm, 256), "%s: S itself is not above S", c.name)
		require.False(t, prove(t, w, shape, c.norm*(1-1e-12), 256), c.name)
	}
}

func TestConvolutionNormOfNothingIsZero(t *testing.T) {
	shape := filterShape(3, 2, 3, 3)
	w := make([]float32, shape.Len())
	w[0] = float32(math.Copysign(0, -1))
	b, err := Prove(t.Context(), w, shape, 0)
	require.NoError(t, err)
	require.Zero(t, b)
	require.NoError(t, Verify(t.Context(), w, shape, 0))
	e, err := Estimate(w, shape, 5, 5, 3)
	require.NoError(t, err)
	require.Zero(t, e)
}

// The bound is not below the norm of any image size, and not far above the symbol's
// maximum, for filters of all kinds and scales.
func TestConvolutionNormBoundsEverySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := filterShape(
			rapid.IntRange(1, 3).Draw(t, "out"), rapid.IntRange(1, 3).Draw(t, "in"),
			2*rapid.IntRange(0, 2).Draw(t, "dy")+1, 2*rapid.IntRange(0, 1).Draw(t, "dx")+1)
		w := gaussianWeights(rapid.Uint64().Draw(t, "seed"), shape, 1)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // sparse
			for i := range w {
				if rapid.IntRange(0, 3).Draw(t, "keep") > 0 {
					w[i] = 0
				}
			}
		case 1: // signs
			for i := range w {
				w[i] = float32(math.Copysign(1, float64(w[i])))
			}
		case 2: // smooth: all positive, largest at frequency 0
			for i := range w {
				w[i] = float32(math.Abs(float64(w[i])))
			}
		}
		b, err := Prove(context.Background(), w, shape, 0)
		require.NoError(t, err)
		for _, size := range [][2]int{{1, 1}, {2, 5}, {6, 4}} {
			require.LessOrEqual(t, denseNorm(t, w, shape, size[0], size[1]), b.Upper*(1+1e-13))
		}
		estimate, err := Estimate(w, shape, 24, 20, 40)
		require.NoError(t, err)
		require.LessOrEqual(t, estimate, b.Upper*(1+1e-13))
		truth := symbolMaximum(t, w, shape, 8*max(shape.H, shape.W))
		require.LessOrEqual(t, truth, b.Upper)
		// The grid has N ≥ 16d frequencies per variable: S·cos²(π/16) ≤ truth.
		require.LessOrEqual(t, b.Lower, truth/math.Pow(math.Cos(math.Pi/16), 2))
		require.LessOrEqual(t, b.Upper, 1.01*max(truth, b.Lower))
		if truth > 0 {
			require.False(t, prove(t, w, shape, truth*(1-1e-9), 128), "a bound below the norm is not proven")
		}
	})
}

// The network's layer, 64 channels: not below σ_max at any of 16×9 frequencies, by plain
// power iteration, and within 1 % of σ_max, by SVD, at the frequency that the search
// found.
func TestConvolutionNormOfLayerIsTight(t *testing.T) {
	devicetest.SkipSearch(t)
	shape := filterShape(64, 64, 3, 3)
	smooth := gaussianWeights(2, shape, 0.02)
	for i := range smooth {
		smooth[i] += 0.01 // a strong peak at frequency 0
	}
	isometry := make([]float32, shape.Len()) // σ_max is the same everywhere: the most cells
	for i := range 64 {
		isometry[at(shape, (7*i)%64, i, i%3, i/3%3)] = 1
	}
	pool := parallel.New(0)
	defer pool.Close()
	for name, w := range map[string][]float32{
		"gaussian": gaussianWeights(1, shape, 0.05),
		"smooth":   smooth,
		"isometry": isometry,
	} {
		b, err := Prove(t.Context(), w, shape, 0)
		require.NoError(t, err)
		t.Logf("%s: %v", name, b)
		const n = 16
		grid := make([]float64, n*(n/2+1))
		pool.For(len(grid), func(i int) {
			grid[i] = powerIteration(direct(w, shape, 2*math.Pi*float64(i%n)/n, 2*math.Pi*float64(i/n)/n), 6)
		})
		require.LessOrEqual(t, slices.Max(grid), b.Upper*(1+1e-13), name)
		g, _, err := newScaledGram(t.Context(), w, shape, DefaultTolerance, pool)
		require.NoError(t, err)
		p := g.search(t.Context(), pool)
		found := largestSingularValue(t, direct(w, shape,
			2*math.Pi*float64(p.at.y)/finestOfAll, 2*math.Pi*float64(p.at.x)/finestOfAll))
		require.LessOrEqual(t, found, b.Upper, name)
		require.LessOrEqual(t, b.Upper, 1.01*found, name)
		require.LessOrEqual(t, b.Lower, found*(1+1e-12), name)
		require.LessOrEqual(t, b.Upper, 1.005*b.Lower*(1+1e-12), name)

		estimate, err := Estimate(w, shape, 12, 12, 3)
		require.NoError(t, err)
		require.LessOrEqual(t, estimate, b.Upper)
	}
}

// A search for weights that push the norm above its bound.
func TestNoWeightsAreFoundThatBreakTheBound(t *testing.T) {
	devicetest.SkipSearch(t)
	const tolerance = 0.05
	shape := filterShape(2, 2, 3, 3)
	for seed := range uint64(3) {
		ratio := func(w []float32) float64 {
			b, err := Prove(t.Context(), w, shape, tolerance)
			require.NoError(t, err)
			truth := symbolMaximum(t, w, shape, 12)
			require.LessOrEqual(t, truth, b.Upper)
			require.LessOrEqual(t, b.Upper, truth*(1+2*tolerance))
			return truth / b.Upper
		}
		rng := rand.New(rand.NewPCG(seed, 13))
		w := gaussianWeights(seed, shape, 1)
		best := ratio(w)
		for step := 1.0; step > 0.05; {
			next := make([]float32, len(w))
			for i := range w {
				next[i] = w[i] + float32(step*rng.NormFloat64())
			}
			if r := ratio(next); r > best {
				best, w = r, next
			} else {
				step *= 0.95
			}
		}
		t.Logf("norm/bound reaches %.6f", best)
	}
}

// powerIteration returns a lower bound of σ_max(F).
func powerIteration(f [][]complex128, steps int) float64 {
	v := make([]complex128, len(f[0]))
	for i := range v {
		v[i] = cmplx.Rect(1, float64(i*i))
	}
	u := make([]complex128, len(f))
	ratio := 0.0
	for range steps {
		size, image := 0.0, 0.0
		for _, a := range v {
			size += real(a)*real(a) + imag(a)*imag(a)
		}
		for o, row := range f {
			sum := complex(0, 0)
			for i, a := range row {
				sum += a * v[i]
			}
			u[o] = sum
			image += real(sum)*real(sum) + imag(sum)*imag(sum)
		}
		ratio = math.Sqrt(image / size)
		for i := range v {
			sum := complex(0, 0)
			for o, row := range f {
				sum += cmplx.Conj(row[i]) * u[o]
			}
			v[i] = sum / complex(math.Sqrt(image), 0)
		}
	}
	return ratio
}

// The theorem of the diamonds, by a search for weights that break it: the largest
// σ_max/cos ρ over the centres of the coarsest tiling is never below S, and the
// search gets close to it.
func TestDiamondsNeverMissTheMaximum(t *testing.T) {
	shape := filterShape(2, 1, 3, 3)
	pool := parallel.New(1)
	defer pool.Close()
	ratio := func(w []float32) float64 {
		g, _, err := newScaledGram(t.Context(), w, shape, DefaultTolerance, pool)
		require.NoError(t, err)
		const density = coarsest
		top := 0.0
		for _, c := range g.coarsestCells() {
			ty := 2 * math.Pi * float64(c.y) / finestOfAll
			tx := 2 * math.Pi * float64(c.x) / finestOfAll
			top = max(top, columnNorm(direct(w, shape, ty, tx)))
		}
		truth := 0.0
		const n = 64
		for y := range n {
			for x := range n/2 + 1 {
				truth = max(truth, columnNorm(direct(w, shape, 2*math.Pi*float64(y)/n, 2*math.Pi*float64(x)/n)))
			}
		}
		return top / math.Cos(2*math.Pi/density) / truth
	}
	rng := rand.New(rand.NewPCG(11, 12))
	closest := math.Inf(1)
	starts := uint64(4)
	if testing.Short() { // the search takes a while under emulation
		starts = 1
	}
	for start := range starts {
		w := gaussianWeights(start, shape, 1)
		best := ratio(w)
		for step := 1.0; step > 0.03; {
			next := make([]float32, len(w))
			for i := range w {
				next[i] = w[i] + float32(step*rng.NormFloat64())
			}
			if r := ratio(next); r < best {
				best, w = r, next
			} else {
				step *= 0.98
			}
		}
		require.GreaterOrEqual(t, best, 1-1e-12)
		closest = min(closest, best)
	}
	require.Less(t, closest, 1.15, "the search has teeth")

	// The wave cos(θy + θx) attains it.
	wave := make([]float32, shape.Len())
	wave[0], wave[8] = 0.5, 0.5
	require.InDelta(t, 1, ratio(wave), 1e-12)
}

// columnNorm is σ_max of a matrix with one column.
func columnNorm(f [][]complex128) float64 {
	sum := 0.0
	for _, row := range f {
		sum += real(row[0])*real(row[0]) + imag(row[0])*imag(row[0])
	}
	return math.Sqrt(sum)
}

func TestConvolutionNormScalesExactly(t *testing.T) {
	shape := filterShape(3, 4, 3, 3)
	w := gaussianWeights(5, shape, 1)
	want, err := Prove(t.Context(), w, shape, 0)
	require.NoError(t, err)
	for _, exponent := range []int{-100, -20, 1, 100} {
		scaled := make([]float32, len(w))
		for i, v := range w {
			scaled[i] = float32(math.Ldexp(float64(v), exponent))
		}
		b, err := Prove(t.Context(), scaled, shape, 0)
		require.NoError(t, err)
		require.Equal(t, math.Ldexp(want.Upper, exponent), b.Upper)
		require.Equal(t, math.Ldexp(want.Lower, exponent), b.Lower)
	}
	// Extremes of float32, and both in one filter.
	for _, scale := range []float64{1e-44, 1e-30, 1e30, 1e38} {
		for i := range w {
			w[i] = float32(scale * float64(1+i%3))
		}
		b, err := Prove(t.Context(), w, shape, 0)
		require.NoError(t, err)
		estimate, err := Estimate(w, shape, 30, 30, 60)
		require.NoError(t, err)
		require.LessOrEqual(t, estimate, b.Upper)
		require.Greater(t, estimate, 0.9*b.Upper)
	}
	clear(w)
	w[0], w[1], w[40] = 1e38, 1e-44, -3e-30
	b, err := Prove(t.Context(), w, shape, 0)
	require.NoError(t, err)
	require.InEpsilon(t, 1e38, b.Upper, 0.0051)
	require.GreaterOrEqual(t, b.Upper, float64(w[0]))
}

func TestConvolutionNormOfWideAndLargeKernels(t *testing.T) {
	for _, shape := range []backend.Shape{
		filterShape(1, 16, 3, 3), filterShape(16, 1, 3, 3), filterShape(3, 8, 5, 5),
		filterShape(1, 1, 1, 15), filterShape(1, 1, 9, 3), filterShape(2, 2, 7, 1), filterShape(8, 8, 1, 1),
	} {
		w := gaussianWeights(9, shape, 1)
		b, err := Prove(t.Context(), w, shape, 0)
		require.NoError(t, err)
		truth := symbolMaximum(t, w, shape, 4*max(shape.H, shape.W))
		require.LessOrEqual(t, truth, b.Upper, "%v", shape)
		require.LessOrEqual(t, b.Upper, truth*1.01, "%v", shape)
		estimate, err := Estimate(w, shape, 20, 23, 30)
		require.NoError(t, err)
		require.LessOrEqual(t, estimate, b.Upper, "%v", shape)
		require.Greater(t, estimate, 0.8*b.Upper, "%v", shape)
	}
}

// A search that misses the maximum costs cells, not the proof: the bound grows until it
// holds, and no further than the tolerance.
func TestBoundGrowsUntilItIsProven(t *testing.T) {
	pool := parallel.New(0)
	defer pool.Close()
	for seed := range uint64(4) {
		shape := filterShape(3, 3, 3, 3)
		w := gaussianWeights(seed, shape, 1)
		g, exponent, err := newScaledGram(t.Context(), w, shape, DefaultTolerance, pool)
		require.NoError(t, err)
		truth := math.Ldexp(symbolMaximum(t, w, shape, 24), -exponent)
		for _, tolerance := range []float64{0.005, 0.05, 0.5} {
			for _, missed := range []float64{0.1, 0.9, 0.999} {
				b, err := g.enclose(t.Context(), pool, peak{cell{0, 0}, truth * missed}, tolerance)
				require.NoError(t, err)
				require.GreaterOrEqual(t, b.Upper, truth)
				require.LessOrEqual(t, b.Upper, truth*(1+tolerance)*(1+1e-6))
				require.LessOrEqual(t, b.Lower, truth*(1+1e-12))
			}
		}
	}
}

// Half of the torus is tiled without gaps or overlaps at every density.
func TestCellsTileTheTorus(t *testing.T) {
	for _, d := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {0, 1}, {2, 0}} {
		g := &gram{dy: d[0], dx: d[1]}
		cells := g.coarsestCells()
		for density := coarsest; density <= 64; density *= 2 {
			if density > coarsest {
				cells = g.cut(cells, finestOfAll/density)
			}
			size := max(1, d[0]*density) * max(1, d[1]*density)
			require.Len(t, cells, size/4, "%v at density %d", d, density)
			seen := map[cell]bool{}
			ry, rx := max(1, finestOfAll*d[0]), max(1, finestOfAll*d[1])
			for _, c := range cells {
				for _, c := range []cell{c, {(ry - c.y) % ry, (rx - c.x) % rx}} {
					require.False(t, seen[c])
					seen[c] = true
					unit := finestOfAll / density
					require.Zero(t, c.y%unit+c.x%unit)
					require.Equal(t, 1, (c.y/unit+c.x/unit)%2)
				}
			}
		}
	}
}

func TestVerify(t *testing.T) {
	shape := filterShape(8, 8, 3, 3)
	w := gaussianWeights(3, shape, 0.1)
	for _, tolerance := range []float64{0.002, 0.005, 0.1} {
		b, err := Prove(t.Context(), w, shape, tolerance)
		require.NoError(t, err)
		require.NoError(t, Verify(t.Context(), w, shape, b.Upper))
		require.ErrorIs(t, Verify(t.Context(), w, shape, b.Lower*(1-1e-9)), ErrTooSmall)
		require.ErrorIs(t, Verify(t.Context(), w, shape, b.Upper/2), ErrTooSmall)
	}
	b, err := Prove(t.Context(), w, shape, 0)
	require.NoError(t, err)
	changed := append([]float32(nil), w...)
	changed[100] += 1
	require.ErrorIs(t, Verify(t.Context(), changed, shape, b.Upper), ErrTooSmall)
	for _, bound := range []float64{math.NaN(), math.Inf(1), -1, 0} {
		require.ErrorIs(t, Verify(t.Context(), w, shape, bound), ErrTooSmall, "%v", bound)
	}
}

func TestConvolutionNormHasTheSameBitsForAnyThreads(t *testing.T) {
	shape := filterShape(6, 5, 3, 3)
	w := gaussianWeights(4, shape, 1)
	var want Bound
	previous := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(previous)
	for i, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		b, err := Prove(t.Context(), w, shape, 0)
		require.NoError(t, err)
		if i == 0 {
			want = b
		}
		require.Equal(t, want, b)
	}
}

func TestConvolutionNormRefuses(t *testing.T) {
	ok := filterShape(2, 2, 3, 3)
	w := gaussianWeights(1, ok, 1)
	for name, c := range map[string]struct {
		w         []float32
		shape     backend.Shape
		tolerance float64
	}{
		"even kernel":     {w[:16], filterShape(2, 2, 2, 2), 0},
		"no channels":     {w, filterShape(0, 2, 3, 3), 0},
		"negative extent": {w, filterShape(2, 2, -3, 3), 0},
		"too few weights": {w[1:], ok, 0},
		"no weights":      {nil, ok, 0},
		"tolerance":       {w, ok, 1e-9},
		"no tolerance":    {w, ok, math.NaN()},
		"much too costly": {make([]float32, 64*64*31*31), filterShape(64, 64, 31, 31), 0},
	} {
		if name == "much too costly" {
			c.w[0] = 1
		}
		_, err := Prove(t.Context(), c.w, c.shape, c.tolerance)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		v := append([]float32(nil), w...)
		v[17] = float32(bad)
		_, err := Prove(t.Context(), v, ok, 0)
		require.ErrorContains(t, err, "weight 17")
		require.ErrorContains(t, Verify(t.Context(), v, ok, 100), "weight 17")
		_, err = Estimate(v, ok, 4, 4, 4)
		require.ErrorContains(t, err, "weight 17")
	}
	_, err := Estimate(w, ok, 0, 4, 4)
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = Estimate(w, ok, 4, 4, 0)
	require.Error(t, err)
}

func TestConvolutionNormEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	shape := filterShape(2, 2, 3, 3)
	_, err := Prove(ctx, gaussianWeights(1, shape, 1), shape, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, Verify(ctx, gaussianWeights(1, shape, 1), shape, 1e3), context.Canceled)
}

// One layer of the network on all cores, with random weights and in the worst case.
func BenchmarkConvolutionNorm(b *testing.B) {
	shape := filterShape(64, 64, 3, 3)
	isometry := make([]float32, shape.Len())
	for i := range 64 {
		isometry[at(shape, i, i, 1, 1)] = 1
	}
	for name, w := range map[string][]float32{"gaussian": gaussianWeights(1, shape, 0.05), "isometry": isometry} {
		for _, tolerance := range []float64{DefaultTolerance, 0.05} {
			b.Run(fmt.Sprintf("%s/tolerance=%v", name, tolerance), func(b *testing.B) {
				for b.Loop() {
					bound, err := Prove(b.Context(), w, shape, tolerance)
					require.NoError(b, err)
					b.ReportMetric(100*(bound.Upper/bound.Lower-1), "%above")
					b.ReportMetric(float64(bound.Cells), "cells")
				}
			})
		}
	}
}
