package rounding

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
)

// The bound of a spectral norm is never below a singular value decomposition, and not far above.
func TestSpectralNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 20).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "columns")
		scale := math.Ldexp(1, rapid.IntRange(-130, 130).Draw(t, "exponent"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := newMatrix(rows, cols)
		for i := range m.data {
			m.data[i] = scale * r.NormFloat64()
		}
		var svd mat.SVD
		require.True(t, svd.Factorize(mat.NewDense(rows, cols, m.data), mat.SVDNone))
		top := svd.Values(nil)[0]
		require.GreaterOrEqual(t, m.norm(), top)
		require.LessOrEqual(t, m.norm(), 1.2*top)
		require.GreaterOrEqual(t, m.frobenius(), top)
		require.GreaterOrEqual(t, math.Sqrt(m.largestColumn()*m.largestRow())*(1+1e-12), top)
	})
}

// plain is Az in float64, or Aᵀz.
func plain(w []float32, s backend.Shape, z []float32, h, width int, adjoint bool) []float64 {
	out := s.N
	if adjoint {
		out = s.C
	}
	result := make([]float64, out*h*width)
	for o := range s.N {
		for i := range s.C {
			for r := range s.H {
				for c := range s.W {
					v := float64(w[((o*s.C+i)*s.H+r)*s.W+c])
					for y := range h {
						for x := range width {
							py, px := y+r-s.H/2, x+c-s.W/2
							if py < 0 || py >= h || px < 0 || px >= width {
								continue
							}
							if adjoint {
								result[(i*h+py)*width+px] += v * float64(z[(o*h+y)*width+x])
							} else {
								result[(o*h+y)*width+x] += v * float64(z[(i*h+py)*width+px])
							}
						}
					}
				}
			}
		}
	}
	return result
}

// images are noise of one sign and of both, a chessboard, a constant, and stripes that oscillate.
func images(r *rand.Rand, s backend.Shape) [][]float32 {
	var list [][]float32
	for kind := range 5 {
		z := make([]float32, s.Len())
		for i := range z {
			y, x := i/s.W%s.H, i%s.W
			switch kind {
			case 0:
				z[i] = r.Float32()
			case 1:
				z[i] = float32(r.NormFloat64())
			case 2:
				z[i] = float32((x + y) % 2)
			case 3:
				z[i] = 1
			case 4:
				z[i] = float32(1-2*(x/2%2)) * float32(1-2*(y%2)) * (1 + r.Float32())
			}
		}
		list = append(list, z)
	}
	return list
}

// What a device computes is within the bound at every level, for shapes on both algorithms, and
// the bound is not more than a few hundred times the largest error seen.
func TestConvolutionsStayWithinTheBound(t *testing.T) {
	for _, shape := range []backend.Shape{{N: 3, C: 3, H: 1, W: 1}, {N: 6, C: 2, H: 5, W: 3}, {N: 16, C: 16, H: 3, W: 3}, {N: 24, C: 64, H: 3, W: 3}, {N: 32, C: 3, H: 3, W: 3}, {N: 4, C: 4, H: 3, W: 3}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(shape.N), uint64(shape.C)))
			w := make([]float32, shape.Len())
			for i := range w {
				w[i] = float32(r.NormFloat64() * 0.1)
			}
			absolute := moduli(w, shape).norm() // a bound of the norm
			const h, width = 13, 14
			largest := 0.0
			var c Convolution
			for _, level := range cpu.InstructionSets() {
				dev := cputest.Open(t, cpu.Threads(1), cpu.UseInstructionSet(level))
				algorithm := dev.ConvolutionAlgorithm(shape)
				require.Equal(t, shape.H == 3 && shape.W == 3 && max(shape.N, shape.C) >= 16, algorithm.Tiles != nil)
				first := min(2, shape.C)
				var err error
				c, err = newConvolution(t.Context(), w, shape, absolute, algorithm, first)
				require.NoError(t, err)
				require.LessOrEqual(t, c.First.Relative, c.Forward.Relative*(1+1e-6))
				bank := put(t, dev, shape, w)
				filter, err := dev.NewFilter(bank)
				require.NoError(t, err)
				for _, adjoint := range []bool{false, true} {
					in, out := shape.C, shape.N
					if adjoint {
						in, out = out, in
					}
					for kind, z := range images(r, backend.Image(in, h, width)) {
						bound := c.Forward
						switch {
						case adjoint:
							bound = c.Adjoint
						case kind == 1: // few channels
							clear(z[first*h*width:])
							bound = c.First
						}
						src, dst := put(t, dev, backend.Image(in, h, width), z), put(t, dev, backend.Image(out, h, width), nil)
						if adjoint {
							require.NoError(t, dev.ConvolveAdjoint(dst, src, filter, 0, 1))
						} else {
							require.NoError(t, dev.Convolve(dst, src, filter, backend.ConvEnd{}))
						}
						got := make([]float32, dst.Shape().Len())
						require.NoError(t, dev.Download(got, dst))
						want := plain(w, shape, z, h, width, adjoint)
						off, size, top := 0.0, 0.0, 0.0
						for i, v := range want {
							off += (float64(got[i]) - v) * (float64(got[i]) - v)
						}
						for _, v := range z {
							size += float64(v) * float64(v)
							top = max(top, math.Abs(float64(v)))
						}
						off, size = math.Sqrt(off), math.Sqrt(size)
						require.LessOrEqual(t, off, bound.Relative*size+bound.Absolute*math.Sqrt(h*width), "level %v, adjoint %v, image %d", level, adjoint, kind)
						for _, v := range got {
							require.LessOrEqual(t, math.Abs(float64(v)), c.Growth*top)
						}
						largest = max(largest, off/size/bound.Relative)
					}
				}
				require.NoError(t, dev.Close())
			}
			t.Logf("forward %.3g, adjoint %.3g, first %.3g; bound over actual %.3g", c.Forward.Relative, c.Adjoint.Relative, c.First.Relative, 1/largest)
			require.Less(t, 1/largest, 1000.0)
		})
	}
}

func put(t *testing.T, dev backend.Device, s backend.Shape, x []float32) backend.Buffer {
	b, err := dev.Alloc(s)
	require.NoError(t, err)
	if x != nil {
		require.NoError(t, dev.Upload(b, x))
	}
	return b
}

// TestAdjointOfTiles: the bounds that are taken over from the filter for its adjoint are those of
// the adjoint's own matrices; and points of no such pairs are found out.
func TestAdjointOfTiles(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	shape := backend.Shape{N: 17, C: 19, H: 3, W: 3}
	a := dev.ConvolutionAlgorithm(shape).Tiles
	at := func(o, i, tap int) float32 { return float32(math.Sin(float64(o*o + 7*i + 3*tap*o))) }
	made := func(a *backend.TileAlgorithm, in, out int, at func(o, i, tap int) float32) *tileBound {
		b, err := newTileBound(t.Context(), a, in, out, shape.W, at)
		require.NoError(t, err)
		return b
	}
	got := made(a, shape.C, shape.N, at).adjoint()
	require.NotNil(t, got)
	want := made(a, shape.N, shape.C, func(o, i, tap int) float32 { return at(i, o, 8-tap) })
	require.InEpsilonSlice(t, want.spectral, got.spectral, 1e-9)
	require.InEpsilonSlice(t, want.frobenius, got.frobenius, 1e-9)
	require.InEpsilonSlice(t, want.columns, got.columns, 1e-9)
	require.InEpsilonSlice(t, want.rows, got.rows, 1e-9)
	require.Equal(t, []int{want.in, want.out}, []int{got.in, got.out})

	other := *a
	other.Filter = slices.Clone(a.Filter)
	other.Filter[1] = []float64{1, 3, 9}
	require.Nil(t, made(&other, shape.C, shape.N, at).adjoint())
}

// TestRemembered: what is remembered is what was computed, and nothing is taken for another.
func TestRemembered(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	shape := backend.Shape{N: 16, C: 16, H: 3, W: 3}
	a := dev.ConvolutionAlgorithm(shape)
	w := make([]float32, shape.Len())
	for i := range w {
		w[i] = float32(math.Sin(float64(i)))
	}
	seen := map[Convolution]bool{}
	hold := func(norm float64, a backend.ConvolutionAlgorithm, first int) {
		want, err := newConvolution(t.Context(), w, shape, norm, a, first)
		require.NoError(t, err)
		for range 2 {
			got, err := Remembered(t.Context(), w, shape, norm, a, first)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		require.NotContains(t, seen, want, "the cases must differ to be told apart")
		seen[want] = true
	}
	hold(30, a, 16)
	hold(31, a, 16)
	hold(30, a, 3)
	hold(30, backend.ConvolutionAlgorithm{}, 16)
	w[7] += 0.5
	hold(30, a, 16)
	for i := range maxRemembered + 1 {
		w[0] = float32(i)
		_, err := Remembered(t.Context(), w[:9], backend.Shape{N: 1, C: 1, H: 3, W: 3}, 30, backend.ConvolutionAlgorithm{}, 1)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(remembered.of), maxRemembered)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w[8]++
	_, err := Remembered(ended, w, shape, 30, a, 16)
	require.ErrorIs(t, err, context.Canceled)
	hold(30, a, 16)
}
