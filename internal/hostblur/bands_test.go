package hostblur

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// A blur by bands, and its adjoint, are the sums over the kernel, to less than Rounding, whatever is beyond the frame.
func TestBandsAreTheWhole(t *testing.T) {
	pool := parallel.New(3)
	defer pool.Close()
	kernels, err := fft.Selected()
	require.NoError(t, err)
	divided := 0
	compare := func(t *rapid.T, boundary backend.Boundary) {
		number := func(from, to int, name string) int { return rapid.IntRange(from, to).Draw(t, name) }
		s := backend.BlurSpec{
			KH: number(1, 9, "kh"), KW: number(1, 7, "kw"), H: number(100, 300, "h"), W: number(7, 20, "w"),
			Boundary: boundary,
		}
		s.CY, s.CX = number(0, s.KH-1, "cy"), number(0, s.KW-1, "cx")
		s.Kernel = rapid.SliceOfN(rapid.Float32Range(-1, 1), s.KH*s.KW, s.KH*s.KW).Draw(t, "kernel")
		s.Method = backend.DirectBlur
		require.NoError(t, s.Check())
		sums := New(s)
		s.Method = backend.FourierBlur
		bands := newBlur(s, number(s.H/8, s.H, "rows at once")*(s.W/2+1))
		if bands.bands.count > 1 {
			divided++
			require.LessOrEqual(t, bands.bands.overlap(), 2)
		}
		require.NoError(t, sums.Prepare(kernels, pool))
		require.NoError(t, bands.Prepare(kernels, pool))
		const planes = 2
		h, w := s.Range()
		random := func(n int) ([]float32, float64) {
			x, square, seed := make([]float32, n), 0.0, uint32(number(1, 1<<20, "seed"))
			for i := range x {
				seed = seed*1664525 + 1013904223
				x[i] = float32(seed)/float32(1<<31) - 1
				square += float64(x[i]) * float64(x[i])
			}
			return x, math.Sqrt(square)
		}
		same := func(want, got []float32, size float64) {
			square := 0.0
			for i, v := range want {
				square += (float64(v) - float64(got[i])) * (float64(v) - float64(got[i]))
			}
			require.LessOrEqual(t, math.Sqrt(square), (sums.Rounding()+bands.Rounding())*size, "%+v in %d bands", s, bands.bands.count)
		}
		x, size := random(planes * s.H * s.W)
		want, got := make([]float32, planes*h*w), make([]float32, planes*h*w)
		require.NoError(t, sums.Apply(pool, planes, want, x))
		require.NoError(t, bands.Apply(pool, planes, got, x))
		same(want, got, size)
		y, size := random(planes * h * w)
		want, got = make([]float32, len(x)), make([]float32, len(x))
		require.NoError(t, sums.ApplyAdjoint(pool, planes, want, y))
		require.NoError(t, bands.ApplyAdjoint(pool, planes, got, y))
		same(want, got, size)
	}
	for _, boundary := range []backend.Boundary{backend.Valid, backend.Circular, backend.Zero, backend.Reflect} {
		divided = 0
		rapid.Check(t, func(t *rapid.T) { compare(t, boundary) })
		t.Logf("%v: %d images in bands", boundary, divided)
		require.Positive(t, divided, boundary)
	}
}

// A photograph of 24 megapixels is blurred in bands, also by a preconditioner of 249×185 weights or of 249×249, with a third of the memory
// that the whole would take at most, and not much more work. One of a megapixel is one piece.
func TestLargeImagesAreInBands(t *testing.T) {
	for _, k := range [][2]int{{23, 31}, {185, 249}, {249, 249}} {
		s := backend.BlurSpec{Kernel: make([]float32, k[0]*k[1]), KH: k[0], KW: k[1], H: 4022, W: 6030, Boundary: backend.Zero, Method: backend.FourierBlur}
		large := New(s)
		require.Greater(t, large.bands.count, 1)
		require.Less(t, float64(large.bands.count*large.y.period), 1.4*4022)
		require.Less(t, large.Bytes(), int64(40e6))
		s.H, s.W = 1000, 1000
		require.Equal(t, 1, New(s).bands.count)
	}
}
