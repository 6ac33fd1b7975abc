package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// blurKernels: sizes, centres, and how many weights between two that are not zero.
var blurKernels = []struct{ kh, kw, cy, cx, gap int }{
	{1, 1, 0, 0, 1}, {3, 3, 1, 1, 1}, {1, 5, 0, 2, 1}, {4, 1, 2, 0, 1}, {2, 2, 0, 1, 1}, {5, 4, 4, 0, 1},
	{9, 7, 3, 5, 3}, {16, 15, 8, 7, 1}, {33, 3, 16, 1, 5},
}

var blurSizes = [][2]int{{1, 1}, {1, 7}, {6, 1}, {2, 3}, {5, 4}, {13, 11}, {16, 18}, {31, 37}, {40, 67}}

func fill(n int, seed uint64) []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return x
}

// blurReference is K of the definition, in float64, or Kᵀ. It is out of the race detector's
// sight, with which it takes ten times as long: only this goroutine has its arrays.
//
//go:norace
func blurReference(s backend.BlurSpec, src []float32, planes int, adjoint bool) []float64 {
	h, w := s.Range()
	n, m := h*w, s.H*s.W
	if adjoint {
		n, m = m, n
	}
	dst := make([]float64, planes*n)
	within := func(i, n int) (int, bool) {
		if i >= 0 && i < n {
			return i, true
		}
		switch s.Boundary {
		case backend.Circular:
			return ((i % n) + n) % n, true
		case backend.Reflect:
			for i < 0 || i >= n {
				if i < 0 {
					i = -1 - i
				} else {
					i = 2*n - 1 - i
				}
			}
			return i, true
		}
		return 0, false
	}
	oy, ox := 0, 0
	if s.Boundary == backend.Valid {
		oy, ox = s.KH-1-s.CY, s.KW-1-s.CX
	}
	for y := range h {
		for i := range s.KH {
			yy, inside := within(y+oy+s.CY-i, s.H)
			if !inside {
				continue
			}
			for x := range w {
				for j := range s.KW {
					k := float64(s.Kernel[i*s.KW+j])
					if k == 0 {
						continue
					}
					xx, inside := within(x+ox+s.CX-j, s.W)
					if !inside {
						continue
					}
					to, from := y*w+x, yy*s.W+xx
					if adjoint {
						to, from = from, to
					}
					for p := range planes {
						dst[p*n+to] += k * float64(src[p*m+from])
					}
				}
			}
		}
	}
	return dst
}

func TestBlur(t *testing.T) {
	one, three := open(t, Threads(1)), open(t, Threads(3))
	defer one.Close()
	defer three.Close()
	for i, k := range blurKernels {
		weights := fill(k.kh*k.kw, 3)
		total := 0.0
		for i := range weights {
			if i%k.gap != 0 {
				weights[i] = 0
			}
			total += float64(max(weights[i], -weights[i]))
		}
		for i := range weights {
			weights[i] /= float32(total)
		}
		for j, size := range blurSizes {
			for boundary := backend.Circular; boundary <= backend.Valid; boundary++ {
				// The plain sum takes minutes under emulation and with the race detector. A third is left there, with
				// each kernel at each size, and both with each boundary; go test ./... has all.
				if testing.Short() && (i+j+int(boundary))%3 != 0 {
					continue
				}
				s := backend.BlurSpec{
					Kernel: weights, KH: k.kh, KW: k.kw, CY: k.cy, CX: k.cx,
					H: size[0], W: size[1], Boundary: boundary,
				}
				if s.Check() != nil {
					continue
				}
				for _, adjoint := range []bool{false, true} {
					want := blurReference(s, fill(2*3*rangeOf(s, !adjoint), 5), 6, adjoint)
					for s.Method = backend.AutoBlur; s.Method <= backend.FourierBlur; s.Method++ {
						name := fmt.Sprintf("%dx%d under %dx%d, %v, method %d, adjoint %v", s.H, s.W, s.KH, s.KW, boundary, s.Method, adjoint)
						got := runBlur(t, one, s, adjoint)
						for i := range want {
							if math.Abs(want[i]-float64(got[i])) > 2e-5 {
								t.Fatalf("%s: sample %d is %v, want %v", name, i, got[i], want[i])
							}
						}
						require.True(t, slices.Equal(got, runBlur(t, three, s, adjoint)), "%s: threads change the bits", name)
					}
				}
			}
		}
	}
}

// rangeOf is the number of samples of a plane: of the result, or of the image.
func rangeOf(s backend.BlurSpec, image bool) int {
	if image {
		return s.H * s.W
	}
	h, w := s.Range()
	return h * w
}

// runBlur blurs two images of three channels of fixed noise.
func runBlur(t *testing.T, d *Device, s backend.BlurSpec, adjoint bool) []float32 {
	k, err := d.NewBlur(s)
	require.NoError(t, err)
	defer k.Free()
	h, w := s.Range()
	x, err := d.Alloc(backend.Shape{N: 2, C: 3, H: s.H, W: s.W})
	require.NoError(t, err)
	defer x.Free()
	y, err := d.Alloc(backend.Shape{N: 2, C: 3, H: h, W: w})
	require.NoError(t, err)
	defer y.Free()
	from, to, apply := x, y, d.ApplyBlur
	if adjoint {
		from, to, apply = y, x, d.ApplyBlurAdjoint
	}
	require.NoError(t, d.Upload(from, fill(from.Shape().Len(), 5)))
	require.NoError(t, d.Upload(to, fill(to.Shape().Len(), 6))) // nothing of it may stay
	require.NoError(t, apply(to, from, k))
	got := make([]float32, to.Shape().Len())
	require.NoError(t, d.Download(got, to))
	return got
}

func TestBlurMisuse(t *testing.T) {
	d, other := open(t, Threads(1)), open(t, Threads(1), MemoryLimit(1<<12))
	defer d.Close()
	defer other.Close()
	s := backend.BlurSpec{Kernel: fill(9, 1), KH: 3, KW: 3, CY: 1, CX: 1, H: 8, W: 9, Boundary: backend.Valid}
	k, err := d.NewBlur(s)
	require.NoError(t, err)
	require.Equal(t, s.Kernel, k.Spec().Kernel)
	k.Spec().Kernel[0] = 77
	require.Equal(t, s.Kernel, k.Spec().Kernel, "a caller changed the kernel")

	x, err := d.Alloc(backend.Image(2, 8, 9))
	require.NoError(t, err)
	y, err := d.Alloc(backend.Image(2, 6, 7))
	require.NoError(t, err)
	narrow, err := d.Alloc(backend.Image(1, 6, 7))
	require.NoError(t, err)
	require.NoError(t, d.ApplyBlur(y, x, k))
	require.ErrorIs(t, d.ApplyBlur(x, y, k), backend.ErrShape)
	require.ErrorIs(t, d.ApplyBlur(narrow, x, k), backend.ErrShape)
	require.ErrorIs(t, d.ApplyBlurAdjoint(y, x, k), backend.ErrShape)
	require.ErrorIs(t, d.ApplyBlur(y, x, nil), backend.ErrForeign)

	s.Boundary = backend.Reflect
	same, err := d.NewBlur(s)
	require.NoError(t, err)
	require.ErrorIs(t, d.ApplyBlur(x, x, same), backend.ErrAlias)

	_, err = d.NewBlur(backend.BlurSpec{Kernel: fill(9, 1), KH: 3, KW: 3, H: 2, W: 9, Boundary: backend.Valid})
	require.ErrorIs(t, err, backend.ErrShape)
	s.Method, s.H, s.W = backend.FourierBlur, 100, 100
	_, err = other.NewBlur(s)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	s.H, s.W = 4, 4
	foreign, err := other.NewBlur(s)
	require.NoError(t, err)
	require.ErrorIs(t, d.ApplyBlur(y, x, foreign), backend.ErrForeign)

	k.Free()
	k.Free()
	require.ErrorIs(t, d.ApplyBlur(y, x, k), backend.ErrFreed)
}

// One blur serves several goroutines at the same time.
func TestBlurConcurrently(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	for _, method := range []backend.BlurMethod{backend.DirectBlur, backend.FourierBlur} {
		s := backend.BlurSpec{Kernel: fill(63, 1), KH: 7, KW: 9, CY: 3, CX: 4, H: 37, W: 50, Boundary: backend.Reflect, Method: method}
		k, err := d.NewBlur(s)
		require.NoError(t, err)
		results := make(chan []float32)
		const goroutines = 4
		for range goroutines {
			go func() {
				var y []float32
				defer func() { results <- y }()
				src, err := d.Alloc(backend.Image(2, s.H, s.W))
				if err != nil {
					return
				}
				mid, err := d.Alloc(backend.Image(2, s.H, s.W))
				if err != nil {
					return
				}
				for range 5 {
					got := make([]float32, src.Shape().Len())
					if d.Upload(src, fill(len(got), 5)) != nil || d.ApplyBlur(mid, src, k) != nil ||
						d.ApplyBlurAdjoint(src, mid, k) != nil || d.Download(got, src) != nil {
						return
					}
					y = got
				}
			}()
		}
		first := <-results
		require.NotNil(t, first)
		for range goroutines - 1 {
			require.Equal(t, first, <-results)
		}
	}
}

// A pair of blur and adjoint on a small photograph of three channels.
func BenchmarkBlurPair(b *testing.B) {
	d := open(b, Threads(1))
	defer d.Close()
	for _, size := range []int{3, 5, 7, 9, 13, 31} {
		for _, method := range []backend.BlurMethod{backend.DirectBlur, backend.FourierBlur} {
			if size > 15 && method == backend.DirectBlur {
				continue
			}
			for _, boundary := range []backend.Boundary{backend.Circular, backend.Zero} {
				s := backend.BlurSpec{
					Kernel: fill(size*size, 1), KH: size, KW: size, CY: size / 2, CX: size / 2,
					H: 321, W: 481, Boundary: boundary, Method: method,
				}
				b.Run(fmt.Sprintf("%dx%d/method%d/%v", size, size, method, boundary), func(b *testing.B) {
					k, err := d.NewBlur(s)
					require.NoError(b, err)
					x, err := d.Alloc(backend.Image(3, s.H, s.W))
					require.NoError(b, err)
					y, err := d.Alloc(backend.Image(3, s.H, s.W))
					require.NoError(b, err)
					require.NoError(b, d.Upload(x, fill(x.Shape().Len(), 1)))
					for b.Loop() {
						require.NoError(b, d.ApplyBlur(y, x, k))
						require.NoError(b, d.ApplyBlurAdjoint(x, y, k))
					}
				})
			}
		}
	}
}
