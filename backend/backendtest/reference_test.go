package backendtest

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
)

// The tests in this file hold the references against what does not come from them:
// examples worked out by hand, identities, and gonum.

// numbers returns an image with the given values.
func numbers(c, h, w int, v ...float64) tensor { return tensor{backend.Image(c, h, w), v} }

func TestVectorReferencesAgainstGonum(t *testing.T) {
	s := backend.Shape{N: 2, C: 3, H: 4, W: 5}
	x, y := noise(s, "x"), noise(s, "y")

	sum := newTensor(s)
	referenceCombination(sum, []float32{0.5, -2}, []tensor{x, y})
	want := make([]float64, s.Len())
	floats.AddScaled(want, 0.5, x.v)
	floats.AddScaled(want, -2, y.v)
	require.InDeltaSlice(t, want, sum.v, 1e-15)

	require.InDelta(t, floats.Dot(x.v, y.v), referenceReduction(backend.Dot, x, y).value, 1e-13)
	require.InDelta(t, math.Pow(floats.Norm(x.v, 2), 2), referenceReduction(backend.SumSquares, x, y).value, 1e-13)
	require.InDelta(t, math.Pow(floats.Distance(x.v, y.v, 2), 2), referenceReduction(backend.DiffSquares, x, y).value, 1e-13)

	m := random(2*3, "m")
	mixed := newTensor(backend.Shape{N: 2, C: 2, H: 4, W: 5})
	referenceMix(mixed, x, m)
	for n := range 2 {
		var product mat.Dense
		product.Mul(mat.NewDense(2, 3, widen(backend.Vector(6), m).v), mat.NewDense(3, 20, x.v[n*60:(n+1)*60]))
		require.InDeltaSlice(t, product.RawMatrix().Data, mixed.v[n*40:(n+1)*40], 1e-15)
	}
}

func TestSumIsCompensated(t *testing.T) {
	var s sum
	for _, v := range []float64{1, 1e100, 1, -1e100} {
		s.add(v)
	}
	require.Equal(t, number{2, 2 + 2e100}, s.number())
}

func TestClipByHand(t *testing.T) {
	x := numbers(1, 1, 5, -1, 0.25, 2, math.NaN(), math.Inf(1))
	referenceClip(x, x, 0, 1)
	require.Equal(t, []float64{0, 0.25, 1}, x.v[:3])
	require.True(t, math.IsNaN(x.v[3]))
	require.Equal(t, 1.0, x.v[4])
}

func TestGradientByHand(t *testing.T) {
	u := numbers(1, 2, 3,
		1, 4, 9,
		16, 25, 36)
	require.Equal(t, []float64{
		15, 21, 27,
		0, 0, 0,

		3, 5, 0,
		9, 11, 0,
	}, referenceGradient(u).v)
	p := numbers(2, 2, 2,
		1, 2,
		50, 60, // beyond the last row: has no effect
		3, 70, // beyond the last column: has no effect
		4, 80)
	require.Equal(t, []float64{
		-1 - 3, -2 + 3,
		1 - 4, 2 + 4,
	}, referenceGradientAdjoint(p).v)
}

func TestGradientAdjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := backend.Image(rapid.IntRange(1, 3).Draw(t, "c"), rapid.IntRange(1, 6).Draw(t, "h"), rapid.IntRange(1, 6).Draw(t, "w"))
		u, p := noise(s, "u"), noise(dualShape(s), "p")
		require.InDelta(t, inner(referenceGradient(u), p).value, inner(u, referenceGradientAdjoint(p)).value, 1e-12)
	})
}

func TestProjectionByHand(t *testing.T) {
	// One pixel of two channels: (3, 4) has norm 5, (0.3, 0.4) norm 0.5.
	p := numbers(4, 1, 1, 3, 4, 0.3, 0.4)
	referenceProjection(p, backend.TVProblem{Alpha: 1})
	require.InDeltaSlice(t, []float64{0.6, 0.8, 0.3, 0.4}, p.v, 1e-15)
	p = numbers(4, 1, 1, 1, 1, 1, 1)
	referenceProjection(p, backend.TVProblem{Alpha: 1, Coupled: true})
	require.InDeltaSlice(t, []float64{0.5, 0.5, 0.5, 0.5}, p.v, 1e-15)
}

// Two pixels, y = (0, 1), 0 < α < ½: the solution is u = (α, 1 − α), p = α.
func TestTotalVariationOfTwoPixels(t *testing.T) {
	const alpha = 0.25
	problem := backend.TVProblem{Alpha: alpha}
	y := numbers(1, 1, 2, 0, 1)
	u, p := numbers(1, 1, 2, 0, 1), newTensor(backend.Image(2, 1, 2))
	for range 500 {
		referenceIterate(u, p, y, problem, backend.TVStep{Primal: 0.2, Extrapolation: 0.2, Dual: 0.25})
	}
	require.InDeltaSlice(t, []float64{alpha, 1 - alpha}, u.v, 1e-9)
	require.InDeltaSlice(t, []float64{0, 0, alpha, 0}, p.v, 1e-9)
	v := referenceEvaluate(u, p, y, problem)
	require.InDelta(t, alpha*alpha, v[0].value, 1e-9)       // ½(α² + α²)
	require.InDelta(t, alpha*(1-2*alpha), v[1].value, 1e-9) // α·|1 − 2α|
	require.InDelta(t, 0, v[2].value, 1e-9)                 // u is y − ∇ᵀp
	require.InDelta(t, v[1].value, v[3].value, 1e-9)        // no gap
	referencePrimal(u, newTensor(p.Shape), y, 0.5)          // half way back to y
	require.InDelta(t, alpha/2, u.v[0], 1e-9)
	referencePrimal(u, newTensor(p.Shape), y, 1)
	require.Equal(t, y.v, u.v)
}

// One step from a chosen point, worked out by hand: r = (0, 1) − (−½, ½) = (½, ½);
// u = (1, 2) + ½·(r − u) = (¾, 1¼); ū = u + 2·(r − u) = (¼, −¼); p = ½ + 1·(−½) = 0.
func TestIterateByHand(t *testing.T) {
	y, u := numbers(1, 1, 2, 0, 1), numbers(1, 1, 2, 1, 2)
	p := numbers(2, 1, 2, 0, 0, 0.5, 0)
	referenceIterate(u, p, y, backend.TVProblem{Alpha: 1}, backend.TVStep{Primal: 0.5, Extrapolation: 2, Dual: 1})
	require.Equal(t, []float64{0.75, 1.25}, u.v)
	require.Equal(t, []float64{0, 0, 0, 0}, p.v)
}

func TestContinuationByHand(t *testing.T) {
	at := func(b backend.Boundary) (row []int) {
		for i := -5; i < 8; i++ {
			j, ok := continued(i, 3, b)
			if !ok {
				j = -1
			}
			row = append(row, j)
		}
		return row
	}
	require.Equal(t, []int{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}, at(backend.Circular))
	require.Equal(t, []int{1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}, at(backend.Reflect))
	require.Equal(t, []int{-1, -1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1, -1}, at(backend.Zero))
}

func TestBlurByHand(t *testing.T) {
	x := numbers(1, 1, 4, 1, 10, 100, 1000)
	blur := func(b backend.Boundary, cx int, kernel ...float32) []float64 {
		s := backend.BlurSpec{Kernel: kernel, KH: 1, KW: len(kernel), CX: cx, H: 1, W: 4, Boundary: b}
		h, w := s.Range()
		dst := newTensor(backend.Image(1, h, w))
		referenceBlur(dst, x, s)
		return dst.v
	}
	// Weight j takes the sample 1 − j to the right: a convolution, not a correlation.
	require.Equal(t, []float64{10 + 2*1 + 3*1000, 100 + 20 + 3, 1000 + 200 + 30, 1 + 2000 + 300}, blur(backend.Circular, 1, 1, 2, 3))
	require.Equal(t, []float64{10 + 2, 123, 1230, 2300}, blur(backend.Zero, 1, 1, 2, 3))
	require.Equal(t, []float64{10 + 2 + 3, 123, 1230, 1000 + 2000 + 300}, blur(backend.Reflect, 1, 1, 2, 3))
	require.Equal(t, []float64{123, 1230}, blur(backend.Valid, 1, 1, 2, 3))
	require.Equal(t, []float64{123, 1230}, blur(backend.Valid, 0, 1, 2, 3)) // wherever the centre
	require.Equal(t, []float64{1, 12, 123, 1230}, blur(backend.Zero, 0, 1, 2, 3))
}

// The circular blur is a product of spectra.
func TestCircularBlurAgainstGonum(t *testing.T) {
	const n, k, centre = 12, 5, 1
	x, weights := noise(backend.Image(1, 1, n), "x"), random(k, "k")
	s := backend.BlurSpec{Kernel: weights, KH: 1, KW: k, CX: centre, H: 1, W: n}
	got := newTensor(x.Shape)
	referenceBlur(got, x, s)
	kernel := make([]float64, n)
	for j, v := range weights {
		kernel[(j-centre+n)%n] += float64(v)
	}
	f := fourier.NewFFT(n)
	a, b := f.Coefficients(nil, x.v), f.Coefficients(nil, kernel)
	for i := range a {
		a[i] *= b[i] / n
	}
	require.InDeltaSlice(t, f.Sequence(nil, a), got.v, 1e-14)
}

func TestBlurAdjoint(t *testing.T) {
	for _, s := range blurSpecs() {
		h, w := s.Range()
		x, y := noise(backend.Image(2, s.H, s.W), "x"), noise(backend.Image(2, h, w), "y")
		kx, kty := newTensor(y.Shape), newTensor(x.Shape)
		if x.Len() > 4000 {
			continue // the definition is the same at every size
		}
		referenceBlur(kx, x, s)
		referenceBlurAdjoint(kty, y, s)
		require.InDelta(t, inner(kx, y).value, inner(x, kty).value, 1e-10, "%+v", s)
	}
}

func TestConvolutionByHand(t *testing.T) {
	x := numbers(1, 2, 3,
		1, 10, 100,
		1000, 10000, 100000)
	w := tensor{backend.Shape{N: 1, C: 1, H: 1, W: 3}, []float64{1, 2, 3}}
	got := newTensor(x.Shape)
	referenceConvolution(got, x, w, nil, backend.Activation{})
	// A correlation: the last weight takes the sample to the right.
	require.Equal(t, []float64{
		2 + 30, 1 + 20 + 300, 10 + 200,
		2000 + 30000, 1000 + 20000 + 300000, 10000 + 200000,
	}, got.v)
	bias := numbers(1, 1, 1, -33)
	referenceConvolution(got, x, w, &bias, backend.Activation{Kind: backend.LeakyReLU, Slope: 0.5})
	require.Equal(t, []float64{-0.5, 288, 177}, got.v[:3])
}

// A convolution of one channel is a blur with the flipped kernel.
func TestConvolutionIsABlur(t *testing.T) {
	w := random(3*5, "w")
	x := noise(backend.Image(1, 7, 6), "x")
	flipped := slices.Clone(w)
	slices.Reverse(flipped)
	s := backend.BlurSpec{Kernel: flipped, KH: 3, KW: 5, CY: 1, CX: 2, H: 7, W: 6, Boundary: backend.Zero}
	blurred, convolved := newTensor(x.Shape), newTensor(x.Shape)
	referenceBlur(blurred, x, s)
	referenceConvolution(convolved, x, widen(backend.Shape{N: 1, C: 1, H: 3, W: 5}, w), nil, backend.Activation{})
	require.InDeltaSlice(t, blurred.v, convolved.v, 1e-14)
}

// ⟨A·x, dy⟩ is linear in x and in w: its gradients are the adjoint and the filter
// gradient.
func TestConvolutionGradients(t *testing.T) {
	for _, l := range layers {
		if l.flops() > 1e6 {
			continue // the definition is the same at every size
		}
		x, dy, w := noise(l.in, "x"), noise(l.result(), "dy"), noise(l.filter(), "w")
		ax, atdy, dw := newTensor(l.result()), newTensor(l.in), newTensor(l.filter())
		referenceConvolution(ax, x, w, nil, backend.Activation{})
		referenceConvolutionAdjoint(atdy, dy, w, 0, 1)
		referenceFilterGradient(dw, x, dy, 0, 1)
		want := inner(ax, dy).value
		require.InDelta(t, want, inner(x, atdy).value, 1e-10, "%v", l)
		require.InDelta(t, want, inner(w, dw).value, 1e-10, "%v", l)

		// beta and scale
		again := atdy.clone()
		referenceConvolutionAdjoint(again, dy, w, 0.5, -2)
		require.InDelta(t, -1.5*want, inner(x, again).value, 1e-10, "%v", l)
		again = dw.clone()
		referenceFilterGradient(again, x, dy, 0.5, -2)
		require.InDelta(t, -1.5*want, inner(w, again).value, 1e-10, "%v", l)
	}
}

func TestBiasAndActivationGradientByHand(t *testing.T) {
	dy := tensor{backend.Shape{N: 2, C: 2, H: 1, W: 2}, []float64{1, 2, 3, 4, 10, 20, 30, 40}}
	db := tensor{backend.Vector(2), []float64{100, 200}}
	referenceBiasGradient(db, dy, 0.5)
	require.Equal(t, []float64{50 + 33, 100 + 77}, db.v)

	out := numbers(1, 1, 4, 2, 0, -1, math.Copysign(0, -1))
	d := numbers(1, 1, 4, 1, 1, 1, 1)
	referenceActivationGradient(d, out, d, backend.Activation{Kind: backend.LeakyReLU, Slope: 0.25})
	require.Equal(t, []float64{1, 0.25, 0.25, 0.25}, d.v)
	referenceActivationGradient(d, out, d, backend.Activation{})
	require.Equal(t, []float64{1, 0.25, 0.25, 0.25}, d.v)
}

func TestCopyByHand(t *testing.T) {
	src := numbers(2, 2, 3,
		1, 2, 3,
		4, 5, 6,

		10, 20, 30,
		40, 50, 60)
	dst := numbers(1, 3, 2,
		-1, -2,
		-3, -4,
		-5, -6)
	copyPixels(dst, 1, 0, src, backend.Region{Y0: 0, Y1: 2, X0: 1, X1: 3})
	require.Equal(t, []float64{-1, -2, 2, 3, 5, 6}, dst.v)
	require.Equal(t, []float64{2, 3, 5, 6, 20, 30, 50, 60}, cut(src.Shape, src.v, backend.Region{Y1: 2, X0: 1, X1: 3}))
	copyPixels(src, 0, 0, dst, backend.Region{Y0: 1, Y1: 2, X1: 1})
	require.Equal(t, []float64{2, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60}, src.v)
}

// PyTorch's own example of pixel_unshuffle, and an image of odd size, which it has none
// of.
func TestShuffleByHand(t *testing.T) {
	fine := numbers(1, 2, 4,
		0, 1, 2, 3,
		4, 5, 6, 7)
	coarse := numbers(4, 1, 2, make([]float64, 8)...)
	referenceUnshuffle(coarse, fine, 2)
	require.Equal(t, []float64{0, 2, 1, 3, 4, 6, 5, 7}, coarse.v)
	odd := numbers(1, 1, 3, 1, 2, 3)
	coarse.v[0] = 9
	referenceUnshuffle(coarse, odd, 2)
	require.Equal(t, []float64{1, 3, 2, 0, 0, 0, 0, 0}, coarse.v)
	coarse.v[5] = 8 // beyond the frame
	referenceShuffle(odd, coarse, 2)
	require.Equal(t, []float64{1, 3, 2, 0, 0, 8, 0, 0}, append([]float64{odd.v[0], odd.v[2], odd.v[1]}, coarse.v[3:]...))
}

// Of (3, 4) and radius 1 the direction (0.6, 0.8), across which the gradient is a fifth;
// inside the other ball nothing changes.
func TestBallProjectionByHand(t *testing.T) {
	v, dy := numbers(4, 1, 1, 3, 4, 3, 4), numbers(4, 1, 1, 5, 0, 5, 0)
	radius := tensor{backend.Vector(2), []float64{1, 5}}
	dst := newTensor(v.Shape)
	referenceProjectBalls(dst, v, radius)
	require.InDeltaSlice(t, []float64{0.6, 0.8, 3, 4}, dst.v, 1e-15)
	sums := tensor{backend.Vector(2), []float64{1, 8}}
	referenceProjectBallsGradient(dst, sums, v, dy, radius, 0.5)
	// ⟨n, dy⟩ = 3; (5, 0) − 3·(0.6, 0.8) = (3.2, −2.4).
	require.InDeltaSlice(t, []float64{0.64, -0.48, 5, 0}, dst.v, 1e-15)
	require.InDeltaSlice(t, []float64{3.5, 4}, sums.v, 1e-15)
	// In a flow it takes the place of the activation: u = A·1 = (3, 4), projected; step
	// ½ with Aᵀ: 1 − ½·(3·0.6 + 4·0.8).
	w := tensor{backend.Shape{N: 2, C: 1, H: 1, W: 1}, []float64{3, 4}}
	one := tensor{backend.Vector(1), []float64{1}}
	z := numbers(1, 1, 1, 1)
	referenceGradientFlow(z, z.clone(), z.Whole(), []referenceStep{{w: w, radius: &one, size: 0.5}}, 1)
	require.InDelta(t, -1.5, z.v[0], 1e-15)
}

// The gradient jumps at the sphere, so no vector of a case may be so near to it that
// rounding could carry it across, which here takes 16 roundings one way. And of ten and
// more vectors some lie on either side.
func TestBallCasesAreClearOfTheSphere(t *testing.T) {
	for _, c := range ballCases() {
		names := map[string]tensor{}
		for i, o := range c.operands {
			names[o.name] = widen(o.shape, c.initial(i))
		}
		v, radius, outside, count := names["src"], names["radius"], 0, 0
		eachBall(v, radius, func(g int, at []int) {
			distance := math.Sqrt(products(v, v, at))/radius.v[g] - 1
			require.Greater(t, math.Abs(distance), 0x1p-20, c.title())
			count++
			if distance > 0 {
				outside++
			}
		})
		if count >= 10 {
			require.Positive(t, outside, c.title())
			require.Less(t, outside, count, c.title())
		}
	}
}

func TestRegionErrors(t *testing.T) {
	s, r := backend.Image(1, 2, 3), backend.Region{Y1: 1, X0: 1, X1: 3}
	want := []float32{1, 2, 3, 4, 5, 6}
	require.NoError(t, checkOutside("x", r, s, []float32{1, -2, -3, 4, 5, 6}, want))
	for _, i := range []int{0, 3, 4, 5} {
		got := slices.Clone(want)
		got[i]++
		require.Error(t, checkOutside("x", r, s, got, want), i)
	}
}

// One step from z = (1, 0), lifted from one channel to two, with A = (a, b) of one
// output channel and no width: u = σ(a·1 + b·0 + bias), z − h·(a, b)·u.
func TestEulerStepByHand(t *testing.T) {
	w := tensor{backend.Shape{N: 1, C: 2, H: 1, W: 1}, []float64{2, 3}}
	bias := numbers(1, 1, 1, -4)
	steps := []referenceStep{{w: w, bias: &bias, activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.5}, size: 0.25}}
	dst := newTensor(backend.Image(2, 1, 1))
	src := numbers(1, 1, 1, 1)
	referenceGradientFlow(dst, src, src.Whole(), steps, 1)
	// 2 − 4 = −2, halved −1: z = (1, 0) + ¼·(2, 3).
	require.Equal(t, []float64{1.5, 0.75}, dst.v)
	// 3 + 2.25 − 4 = 1.25: z = (1.5, 0.75) − ¼·1.25·(2, 3).
	referenceGradientFlow(dst, src, src.Whole(), append(steps, steps[0]), 1)
	require.Equal(t, []float64{0.875, -0.1875}, dst.v)
}

// With A = 1 and the identity the flow is z' = −z, and a step of s stages of order s
// multiplies z by the first terms of the exponential series of −h.
func TestRungeKuttaStepsByHand(t *testing.T) {
	const h = 0.5
	one := tensor{backend.Shape{N: 1, C: 1, H: 1, W: 1}, []float64{1}}
	for _, m := range []struct {
		*method
		want float64
	}{
		{midpoint, 1 - h + h*h/2},
		{heun, 1 - h + h*h/2},
		{kutta, 1 - h + h*h/2 - h*h*h/6},
		{classical, 1 - h + h*h/2 - h*h*h/6 + h*h*h*h/24},
		{doubled, 1 - 2*h},
	} {
		z := numbers(1, 1, 1, 1)
		referenceGradientFlow(z, z.clone(), z.Whole(), []referenceStep{{w: one, size: h, tableau: m.tableau}}, 1)
		require.InDelta(t, m.want, z.v[0], 1e-15, m.name)
	}
}

// A step with the identity is I − hAᵀA, which is symmetric, and with weights of 3×3
// reaches two pixels far.
func TestEulerStepIsSymmetric(t *testing.T) {
	s := backend.Image(2, 5, 9)
	steps := []referenceStep{{w: noise(backend.Shape{N: 3, C: 2, H: 3, W: 3}, "w"), size: 0.3}}
	step := func(x tensor) tensor {
		dst := newTensor(s)
		referenceGradientFlow(dst, x, s.Whole(), steps, 1)
		return dst
	}
	x, y := noise(s, "x"), noise(s, "y")
	require.InDelta(t, inner(step(x), y).value, inner(x, step(y)).value, 1e-12)
	one := newTensor(s)
	one.v[one.index(0, 1, 2, 4)] = 1
	for i, v := range step(one).v {
		require.Equal(t, i%s.W >= 2 && i%s.W <= 6, v != 0, position(s, i))
	}
}

func TestSpreadInTilesByHand(t *testing.T) {
	x := newTensor(backend.Image(2, 3, 5))
	x.v[x.index(0, 1, 1, 2)] = math.NaN()
	spread := func(grid int) (at []string) {
		y := x.clone()
		spreadInTiles(y, grid)
		for i, v := range y.v {
			if v != v {
				at = append(at, position(y.Shape, i))
			}
		}
		return at
	}
	require.Equal(t, []string{"[0,1,1,2]"}, spread(1))
	require.Equal(t, []string{"[0,1,0,2]", "[0,1,0,3]", "[0,1,1,2]", "[0,1,1,3]"}, spread(2))
	require.Len(t, spread(6), 15)
}

func TestErrorMeasures(t *testing.T) {
	want := numbers(1, 1, 2, 3, 4)
	require.NoError(t, checkArray("x", []float32{3, 4}, want, exact))
	require.Error(t, checkArray("x", []float32{3, 4.0000005}, want, exact))
	require.NoError(t, checkArray("x", []float32{3, 4.0000005}, want, 1e-12))
	// An error of 5 in place of (3, 4) is one of 1.
	require.NoError(t, checkArray("x", []float32{6, 0}, want, 1))
	require.ErrorContains(t, checkArray("x", []float32{6, 0}, want, 0.99), "1.00e+00")
	require.Error(t, checkArray("x", []float32{3, nan}, want, 1))
	require.Error(t, checkArray("x", []float32{0, 1e-20}, numbers(1, 1, 2, 0, 0), 1))

	require.NoError(t, checkNumbers([]float64{1.5}, []number{{1, 10}}, 0.05))
	require.Error(t, checkNumbers([]float64{1.6}, []number{{1, 10}}, 0.05))
	require.Error(t, checkNumbers([]float64{math.NaN()}, []number{{1, 10}}, 0.05))
	require.Error(t, checkNumbers([]float64{1}, []number{{math.NaN(), 10}}, 0.05))
	require.Error(t, checkNumbers(nil, []number{{1, 10}}, 0.05))
}
