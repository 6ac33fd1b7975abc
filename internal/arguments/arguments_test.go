package arguments_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// shaped is a buffer that has a shape and nothing else.
type shaped backend.Shape

func (b shaped) Shape() backend.Shape { return backend.Shape(b) }
func (shaped) Free()                  {}

// checked is one call of a check, and the error that it has to wrap, nil for none.
type checked struct {
	arguments string
	got, want error
}

func requireChecked(t *testing.T, rows []checked) {
	t.Helper()
	for _, r := range rows {
		if r.want == nil {
			require.NoError(t, r.got, r.arguments)
		} else {
			require.ErrorIs(t, r.got, r.want, r.arguments)
		}
	}
}

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))

	image = backend.Image(3, 5, 7)
	batch = backend.Shape{N: 2, C: 3, H: 5, W: 7}
	// oneOff are shapes that differ from image in one extent.
	oneOff = []backend.Shape{batch, backend.Image(2, 5, 7), backend.Image(3, 4, 7), backend.Image(3, 5, 8)}
)

func TestCheckSameShape(t *testing.T) {
	same := shaped(image)
	requireChecked(t, []checked{
		{"none", arguments.CheckSameShape[shaped](), nil},
		{"one", arguments.CheckSameShape(same), nil},
		{"three", arguments.CheckSameShape(same, same, same), nil},
		{"as interfaces", arguments.CheckSameShape[backend.Buffer](same, shaped(batch)), backend.ErrShape},
	})
	for _, s := range oneOff {
		require.ErrorIs(t, arguments.CheckSameShape(same, shaped(s)), backend.ErrShape, "%v", s)
		require.ErrorIs(t, arguments.CheckSameShape(same, same, shaped(s)), backend.ErrShape, "%v", s)
	}
}

func TestChecksOfMemory(t *testing.T) {
	whole, part := image.Whole(), backend.Region{Y0: 1, Y1: 3, X0: 2, X1: 7} // 2×5 pixels
	requireChecked(t, []checked{
		{"all channels", arguments.CheckChannels(image, 0, 3), nil},
		{"the last", arguments.CheckChannels(image, 2, 1), nil},
		{"before the first", arguments.CheckChannels(image, -1, 2), backend.ErrShape},
		{"behind the last", arguments.CheckChannels(image, 2, 2), backend.ErrShape},
		{"none", arguments.CheckChannels(image, 1, 0), backend.ErrShape},
		{"less than none", arguments.CheckChannels(image, 1, -1), backend.ErrShape},
		{"what overflows", arguments.CheckChannels(image, 1, math.MaxInt), backend.ErrShape},
		{"of a batch", arguments.CheckChannels(batch, 0, 1), backend.ErrShape},

		{"an image", arguments.CheckCopyRegion(image, 0, 0, image, whole), nil},
		{"a batch", arguments.CheckCopyRegion(batch, 3, 2, batch, part), nil},
		{"other channels and frame", arguments.CheckCopyRegion(backend.Image(1, 2, 5), 0, 0, image, part), nil},
		{"to a batch", arguments.CheckCopyRegion(batch, 0, 0, image, part), backend.ErrShape},
		{"empty", arguments.CheckCopyRegion(image, 0, 0, image, backend.Region{}), backend.ErrShape},
		{"beyond the source", arguments.CheckCopyRegion(backend.Image(3, 9, 9), 0, 0, image, backend.Region{Y1: 6, X1: 7}), backend.ErrShape},
		{"above", arguments.CheckCopyRegion(image, -1, 0, image, part), backend.ErrShape},
		{"to the left", arguments.CheckCopyRegion(image, 0, -1, image, part), backend.ErrShape},
		{"below", arguments.CheckCopyRegion(image, 4, 0, image, part), backend.ErrShape},
		{"to the right", arguments.CheckCopyRegion(image, 0, 3, image, part), backend.ErrShape},

		{"up", arguments.CheckUpload(batch, 210), nil},
		{"up, too few", arguments.CheckUpload(batch, 209), backend.ErrShape},
		{"up, too many", arguments.CheckUpload(batch, 211), backend.ErrShape},
		{"down", arguments.CheckDownload(105, image), nil},
		{"down, no room", arguments.CheckDownload(0, image), backend.ErrShape},
		{"down, too much room", arguments.CheckDownload(106, image), backend.ErrShape},
	})
}

func TestChecksOfVectors(t *testing.T) {
	mixing := func(dst, src backend.Shape, n int) error {
		return arguments.CheckMixing(dst, src, make([]float32, n))
	}
	reductions := func(room int, kinds ...backend.ReductionKind) error {
		rs := make([]backend.Reduction, len(kinds))
		for k := range rs {
			rs[k].Kind = kinds[k]
		}
		return arguments.CheckReductions(make([]float64, room), rs)
	}
	requireChecked(t, []checked{
		{"no term", arguments.CheckTerms(0), backend.ErrArgument},
		{"one term", arguments.CheckTerms(1), nil},
		{"the most terms", arguments.CheckTerms(backend.MaxTerms), nil},
		{"too many terms", arguments.CheckTerms(backend.MaxTerms + 1), backend.ErrArgument},

		{"a box", arguments.CheckClip(0, 1), nil},
		{"a point", arguments.CheckClip(1, 1), nil},
		{"everything", arguments.CheckClip(-inf, inf), nil},
		{"nothing", arguments.CheckClip(1, 0), backend.ErrArgument},
		{"lo is NaN", arguments.CheckClip(nan, 0), backend.ErrArgument},
		{"hi is NaN", arguments.CheckClip(0, nan), backend.ErrArgument},

		{"square", mixing(batch, batch, 9), nil},
		{"the most channels", mixing(backend.Vector(backend.MaxMixed), backend.Vector(2), 2*backend.MaxMixed), nil},
		{"too many into few", mixing(backend.Vector(2), backend.Vector(backend.MaxMixed+1), 2*backend.MaxMixed+2), backend.ErrArgument},
		{"few into too many", mixing(backend.Vector(backend.MaxMixed+1), backend.Vector(2), 2*backend.MaxMixed+2), backend.ErrArgument},
		{"too few coefficients", mixing(image, image, 8), backend.ErrShape},
		{"another batch", mixing(image, batch, 9), backend.ErrShape},
		{"other rows", mixing(image, backend.Image(3, 4, 7), 9), backend.ErrShape},
		{"other columns", mixing(image, backend.Image(3, 5, 8), 9), backend.ErrShape},

		{"no reduction", reductions(0), nil},
		{"all kinds", reductions(3, backend.Dot, backend.SumSquares, backend.DiffSquares), nil},
		{"too little room", reductions(0, backend.Dot), backend.ErrShape},
		{"too much room", reductions(2, backend.Dot), backend.ErrShape},
		{"an unknown kind", reductions(2, backend.Dot, backend.DiffSquares+1), backend.ErrArgument},

		{"standard normal", arguments.CheckGaussian(0, 1), nil},
		{"constant", arguments.CheckGaussian(-1, 0), nil},
		{"mean NaN", arguments.CheckGaussian(nan, 1), backend.ErrArgument},
		{"mean ∞", arguments.CheckGaussian(inf, 1), backend.ErrArgument},
		{"mean −∞", arguments.CheckGaussian(-inf, 1), backend.ErrArgument},
		{"deviation below 0", arguments.CheckGaussian(0, -1), backend.ErrArgument},
		{"deviation NaN", arguments.CheckGaussian(0, nan), backend.ErrArgument},
		{"deviation ∞", arguments.CheckGaussian(0, inf), backend.ErrArgument},
	})
}

func TestChecksOfTotalVariation(t *testing.T) {
	dual := backend.Image(6, 5, 7)
	requireChecked(t, []checked{
		{"α = 0", backend.TVProblem{}.Check(), nil},
		{"α = 1", backend.TVProblem{Alpha: 1}.Check(), nil},
		{"α < 0", backend.TVProblem{Alpha: -1}.Check(), backend.ErrArgument},
		{"α NaN", backend.TVProblem{Alpha: nan}.Check(), backend.ErrArgument},
		{"α ∞", backend.TVProblem{Alpha: inf}.Check(), backend.ErrArgument},

		{"no step", backend.TVStep{}.Check(), nil},
		{"a long step", backend.TVStep{Primal: 1, Extrapolation: 9, Dual: 9}.Check(), nil},
		{"Primal < 0", backend.TVStep{Primal: -0.1}.Check(), backend.ErrArgument},
		{"Primal > 1", backend.TVStep{Primal: 1.1}.Check(), backend.ErrArgument},
		{"Primal NaN", backend.TVStep{Primal: nan}.Check(), backend.ErrArgument},
		{"Extrapolation < 0", backend.TVStep{Extrapolation: -1}.Check(), backend.ErrArgument},
		{"Extrapolation NaN", backend.TVStep{Extrapolation: nan}.Check(), backend.ErrArgument},
		{"Extrapolation ∞", backend.TVStep{Extrapolation: inf}.Check(), backend.ErrArgument},
		{"Dual < 0", backend.TVStep{Dual: -1}.Check(), backend.ErrArgument},
		{"Dual NaN", backend.TVStep{Dual: nan}.Check(), backend.ErrArgument},
		{"Dual ∞", backend.TVStep{Dual: inf}.Check(), backend.ErrArgument},

		{"an image", arguments.CheckTVShapes(image, dual, image), nil},
		{"a batch", arguments.CheckTVShapes(batch, backend.Shape{N: 2, C: 6, H: 5, W: 7}, batch), backend.ErrShape},
		{"p like y", arguments.CheckTVShapes(image, image, image), backend.ErrShape},
		{"p of other rows", arguments.CheckTVShapes(image, backend.Image(6, 4, 7), image), backend.ErrShape},
	})
	for _, s := range oneOff {
		require.ErrorIs(t, arguments.CheckTVShapes(s, dual, image), backend.ErrShape, "%v", s)
		require.ErrorIs(t, arguments.CheckTVShapes(image, dual, s), backend.ErrShape, "%v", s)
	}
}

func TestChecksOfBlurs(t *testing.T) {
	spec := backend.BlurSpec{Kernel: make([]float32, 6), KH: 2, KW: 3, H: 5, W: 7}
	require.NoError(t, arguments.CheckBlur(spec, image, image))
	require.NoError(t, arguments.CheckBlur(spec, batch, batch))
	for _, s := range oneOff {
		require.ErrorIs(t, arguments.CheckBlur(spec, image, s), backend.ErrShape, "%v", s)
		require.ErrorIs(t, arguments.CheckBlur(spec, s, image), backend.ErrShape, "%v", s)
	}
	require.ErrorIs(t, arguments.CheckBlur(spec, backend.Image(3, 6, 7), backend.Image(3, 6, 7)), backend.ErrShape)
	spec.Boundary = backend.Valid
	require.NoError(t, arguments.CheckBlur(spec, image, backend.Image(3, 4, 5)))
	require.ErrorIs(t, arguments.CheckBlur(spec, image, image), backend.ErrShape)
}

func TestChecksOfConvolutions(t *testing.T) {
	filter := backend.Shape{N: 8, C: 3, H: 3, W: 5} // leads from image to wide
	even := backend.Shape{N: 8, C: 3, H: 3, W: 4}
	wide := backend.Image(8, 5, 7)
	requireChecked(t, []checked{
		{"odd", arguments.CheckFilter(filter), nil},
		{"one pixel", arguments.CheckFilter(backend.Vector(2)), nil},
		{"even width", arguments.CheckFilter(even), backend.ErrShape},
		{"even height", arguments.CheckFilter(backend.Image(1, 2, 3)), backend.ErrShape},

		{"new weights", arguments.CheckWeights(filter, filter), nil},
		{"weights of another filter", arguments.CheckWeights(even, filter), backend.ErrShape},

		{"A", arguments.CheckConvolution(wide, image, filter), nil},
		{"A the other way", arguments.CheckConvolution(image, wide, filter), backend.ErrShape},
		{"Aᵀ", arguments.CheckConvolutionAdjoint(image, wide, filter), nil},
		{"Aᵀ the other way", arguments.CheckConvolutionAdjoint(wide, image, filter), backend.ErrShape},

		{"a bias", arguments.CheckBias(backend.Vector(8), 8), nil},
		{"a bias in a row", arguments.CheckBias(backend.Image(1, 1, 8), 8), nil},
		{"too short a bias", arguments.CheckBias(backend.Vector(7), 8), backend.ErrShape},

		{"∂w", arguments.CheckFilterGradient(filter, image, wide), nil},
		{"∂w of even width", arguments.CheckFilterGradient(even, image, wide), backend.ErrShape},
		{"∂w of Aᵀ", arguments.CheckFilterGradient(filter, wide, image), backend.ErrShape},
		{"∂b", arguments.CheckBiasGradient(backend.Vector(8), wide), nil},
		{"∂b of a batch", arguments.CheckBiasGradient(backend.Vector(3), batch), nil},
		{"too long a ∂b", arguments.CheckBiasGradient(backend.Vector(9), wide), backend.ErrShape},
	})
	for _, s := range oneOff {
		require.ErrorIs(t, arguments.CheckConvolution(wide, s, filter), backend.ErrShape, "%v", s)
		require.ErrorIs(t, arguments.CheckConvolutionAdjoint(s, wide, filter), backend.ErrShape, "%v", s)
		require.ErrorIs(t, arguments.CheckFilterGradient(filter, s, wide), backend.ErrShape, "%v", s)
	}
}

func TestCheckShuffle(t *testing.T) {
	for _, c := range []struct {
		fine, coarse backend.Shape
		factor       int
	}{
		{backend.Image(3, 5, 8), backend.Image(3, 5, 8), 1},
		{backend.Image(3, 5, 8), backend.Image(12, 3, 4), 2},
		{backend.Shape{N: 2, C: 1, H: 6, W: 7}, backend.Shape{N: 2, C: 9, H: 2, W: 3}, 3},
		{backend.Image(1, 2, 3), backend.Image(100, 1, 1), 10},
	} {
		require.NoError(t, arguments.CheckShuffle(c.fine, c.coarse, c.factor))
		c.coarse.W++
		require.ErrorIs(t, arguments.CheckShuffle(c.fine, c.coarse, c.factor), backend.ErrShape)
	}
	point := backend.Image(1, 1, 1)
	for _, factor := range []int{0, -1, math.MinInt} {
		require.ErrorIs(t, arguments.CheckShuffle(point, point, factor), backend.ErrArgument)
	}
	// What does not fit an int is no shape, and no other one's by wrapping around.
	five := backend.Image(5, 1, 1)
	for _, factor := range []int{math.MaxInt, 1 << (bits.UintSize / 2), math.MaxInt32} {
		require.ErrorIs(t, arguments.CheckShuffle(five, five, factor), backend.ErrShape)
	}
}

func TestCheckBalls(t *testing.T) {
	s := backend.Shape{N: 2, C: 6, H: 5, W: 7}
	for _, groups := range []int{1, 2, 3, 6} {
		require.NoError(t, arguments.CheckBalls(s, backend.Vector(groups)))
	}
	for _, radius := range []backend.Shape{backend.Vector(0), backend.Vector(4), backend.Vector(12), backend.Image(1, 1, 3), {}} {
		require.ErrorIs(t, arguments.CheckBalls(s, radius), backend.ErrShape, "%v", radius)
	}
}
