package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/dsp/fourier"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/parallel"
)

// sizes cover powers of each radix, mixtures, primes with no code of their own,
// single rows and columns, and numbers of rows and columns beside the 16 and 32
// that blocks have.
var sizes = [][2]int{
	{1, 1}, {1, 2}, {2, 1}, {1, 7}, {7, 1}, {1, 360}, {360, 1}, {3, 5}, {4, 4}, {8, 6}, {5, 25}, {9, 27},
	{16, 16}, {15, 31}, {17, 33}, {31, 30}, {32, 34}, {33, 32}, {11, 13}, {49, 14}, {30, 36}, {60, 64},
	{65, 81}, {100, 125}, {128, 2}, {2, 128}, {97, 37}, {64, 63}, {121, 22},
}

// reference is the transform by gonum, in complex128.
func reference(image []float32, h, w int) [][]complex128 {
	spectrum := make([][]complex128, h)
	rows := fourier.NewFFT(w)
	for y := range spectrum {
		row := make([]float64, w)
		for x := range row {
			row[x] = float64(image[y*w+x])
		}
		spectrum[y] = rows.Coefficients(nil, row)
	}
	columns := fourier.NewCmplxFFT(h)
	column := make([]complex128, h)
	for x := range spectrum[0] {
		for y := range column {
			column[y] = spectrum[y][x]
		}
		for y, v := range columns.Coefficients(nil, column) {
			spectrum[y][x] = v
		}
	}
	return spectrum
}

func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = r.Float32()*2 - 1
	}
	return x
}

// largestPrime returns the largest prime factor of n.
func largestPrime(n int) int {
	top := 1
	for p := 2; n > 1; p++ {
		for n%p == 0 {
			n, top = n/p, p
		}
	}
	return top
}

// limit is the error that the package comment states.
func limit(h, w int) float64 {
	return 3e-7 + 1e-8*float64(max(largestPrime(h), largestPrime(w)))
}

func TestForwardAgreesWithGonum(t *testing.T) {
	pool := parallel.New(2)
	defer pool.Close()
	for _, s := range append(sizes, [2]int{360, 512}, [2]int{1024, 60}, [2]int{3, 3125}) {
		h, w := s[0], s[1]
		t.Run(fmt.Sprintf("%dx%d", h, w), func(t *testing.T) {
			plan, err := New(h, w)
			require.NoError(t, err)
			image := random(h*w, 7)
			spectrum, err := plan.Forward(pool, image)
			require.NoError(t, err)
			want := reference(image, h, w)
			var off, norm float64
			seen := 0
			spectrum.Each(func(fy, fx int, x complex64) complex64 {
				seen++
				off += math.Pow(cmplx.Abs(complex128(x)-want[fy][fx]), 2)
				norm += math.Pow(cmplx.Abs(want[fy][fx]), 2)
				return x
			})
			require.Equal(t, h*(w/2+1), seen)
			require.LessOrEqual(t, math.Sqrt(off/norm), limit(h, w))

			back := make([]float32, h*w)
			require.NoError(t, spectrum.Inverse(pool, back))
			off, norm = 0, 0
			for i := range back {
				off += math.Pow(float64(back[i]-image[i]), 2)
				norm += math.Pow(float64(image[i]), 2)
			}
			require.LessOrEqual(t, math.Sqrt(off/norm), 2*limit(h, w))
		})
	}
}

// Σ|x|² = Σ|X|²/(hw), where a coefficient counts twice if its mirror image is not stored.
func TestParseval(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 70).Draw(t, "h"), rapid.IntRange(1, 70).Draw(t, "w")
		plan, err := New(h, w)
		require.NoError(t, err)
		image := random(h*w, rapid.Uint64().Draw(t, "seed"))
		spectrum, err := plan.Forward(pool, image)
		require.NoError(t, err)
		var samples, coefficients float64
		for _, v := range image {
			samples += float64(v) * float64(v)
		}
		spectrum.Each(func(_, fx int, x complex64) complex64 {
			power := float64(real(x))*float64(real(x)) + float64(imag(x))*float64(imag(x))
			if fx != 0 && 2*fx != w {
				power *= 2
			}
			coefficients += power
			return x
		})
		require.InEpsilon(t, samples, coefficients/float64(h*w), 2*limit(h, w))
	})
}

// reader and writer hand over the rows of images that lie one after the other.
func reader(images []float32, h, w int) Rows {
	return Rows{H: h, W: w, Row: func(image, y int, row []float32) { copy(row, images[(image*h+y)*w:]) }}
}

func writer(images []float32, h, w int) Rows {
	return Rows{H: h, W: w, Row: func(image, y int, row []float32) { copy(images[(image*h+y)*w:], row) }}
}

func TestFilterIsACircularConvolution(t *testing.T) {
	for _, s := range sizes {
		h, w := s[0], s[1]
		t.Run(fmt.Sprintf("%dx%d", h, w), func(t *testing.T) {
			plan, err := New(h, w)
			require.NoError(t, err)
			kernel := make([]float32, h*w)
			for i := range kernel {
				if i%w < 5 && i/w < 4 {
					kernel[i] = random(h*w, 3)[i]
				}
			}
			hs, ws := max(1, h-2), max(1, w-3) // the source's size
			hd, wd := max(1, h-1), max(1, w-1) // the result's
			const images = 3
			image := random(images*hs*ws, 4)

			want := [2][]float64{make([]float64, images*hd*wd), make([]float64, images*hd*wd)}
			for n := range images {
				for y := range hd {
					for x := range wd {
						at := (n*hd+y)*wd + x
						for i := range min(h, 4) {
							for j := range min(w, 5) {
								k := float64(kernel[i*w+j])
								if yy, xx := (y-i+h)%h, (x-j+w)%w; yy < hs && xx < ws {
									want[0][at] += k * float64(image[(n*hs+yy)*ws+xx])
								}
								if yy, xx := (y+i)%h, (x+j)%w; yy < hs && xx < ws {
									want[1][at] += k * float64(image[(n*hs+yy)*ws+xx])
								}
							}
						}
					}
				}
			}

			var first [2][]float32
			for _, threads := range []int{1, 3} {
				pool := parallel.New(threads)
				spectrum, err := plan.Forward(pool, kernel)
				require.NoError(t, err)
				for i, conjugate := range []bool{false, true} {
					got := make([]float32, images*hd*wd)
					require.NoError(t, spectrum.Filter().Apply(pool, images, writer(got, hd, wd), reader(image, hs, ws), conjugate))
					for j := range got {
						require.InDelta(t, want[i][j], got[j], 1e-5, "conjugate %v, sample %d", conjugate, j)
					}
					if first[i] == nil {
						first[i] = got
					}
					require.Equal(t, first[i], got, "%d threads change the bits", threads)
				}
				pool.Close()
			}
		})
	}
}

func TestGoodSize(t *testing.T) {
	for n, want := range map[int]int{-3: 1, 0: 1, 1: 1, 7: 8, 11: 12, 13: 15, 351: 360, 511: 512, 513: 540, 4097: 4320} {
		require.Equal(t, want, GoodSize(n), "n = %d", n)
	}
}

func TestWrongSizesAreErrors(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	for _, s := range [][2]int{{0, 1}, {1, 0}, {-1, 4}, {1 << 20, 1 << 20}} {
		_, err := New(s[0], s[1])
		require.Error(t, err)
	}
	plan, err := New(4, 6)
	require.NoError(t, err)
	_, err = plan.Forward(pool, make([]float32, 23))
	require.Error(t, err)
	spectrum, err := plan.Forward(pool, make([]float32, 24))
	require.NoError(t, err)
	require.Error(t, spectrum.Inverse(pool, make([]float32, 25)))
	require.Error(t, spectrum.Filter().Apply(pool, 1, Rows{H: 5, W: 6}, Rows{H: 4, W: 6}, false))
	require.Error(t, spectrum.Filter().Apply(pool, 1, Rows{H: 4, W: 6}, Rows{H: 4, W: 0}, false))
}

// Forward and inverse of one image, and of the same image by gonum.
func BenchmarkForwardInverse(b *testing.B) {
	const h, w = 512, 352
	image := random(h*w, 1)
	b.Run("own", func(b *testing.B) {
		pool := parallel.New(1)
		defer pool.Close()
		plan, err := New(h, w)
		require.NoError(b, err)
		for b.Loop() {
			spectrum, err := plan.Forward(pool, image)
			require.NoError(b, err)
			require.NoError(b, spectrum.Inverse(pool, image))
		}
	})
	b.Run("gonum", func(b *testing.B) {
		rows, columns := fourier.NewFFT(w), fourier.NewCmplxFFT(h)
		wide := make([]float64, h*w)
		half := make([]complex128, h*(w/2+1))
		column := make([]complex128, h)
		along := func(transform func(dst, src []complex128) []complex128) {
			for x := range w/2 + 1 {
				for y := range column {
					column[y] = half[y*(w/2+1)+x]
				}
				transform(column, column)
				for y := range column {
					half[y*(w/2+1)+x] = column[y]
				}
			}
		}
		for b.Loop() {
			for i, v := range image {
				wide[i] = float64(v)
			}
			for y := range h {
				rows.Coefficients(half[y*(w/2+1):(y+1)*(w/2+1)], wide[y*w:(y+1)*w])
			}
			along(columns.Coefficients)
			along(columns.Sequence)
			for y := range h {
				rows.Sequence(wide[y*w:(y+1)*w], half[y*(w/2+1):(y+1)*(w/2+1)])
			}
			for i := range image {
				image[i] = float32(wide[i] / (h * w))
			}
		}
	})
}

// The convolution of three channels, as blurring does it, with each instruction set.
func BenchmarkFilter(b *testing.B) {
	sets := vectorKernels()
	sets["portable"] = Portable
	for name, k := range sets {
		for _, s := range [][2]int{{360, 512}, {375, 540}, {512, 512}, {3072, 4096}} {
			h, w := s[0], s[1]
			b.Run(fmt.Sprintf("%s/3x%dx%d", name, h, w), func(b *testing.B) {
				pool := parallel.New(1)
				defer pool.Close()
				plan, err := NewWith(k, h, w)
				require.NoError(b, err)
				spectrum, err := plan.Forward(pool, random(h*w, 1))
				require.NoError(b, err)
				filter := spectrum.Filter()
				image, result := random(3*h*w, 2), make([]float32, 3*h*w)
				for b.Loop() {
					require.NoError(b, filter.Apply(pool, 3, writer(result, h, w), reader(image, h, w), false))
				}
			})
		}
	}
}
