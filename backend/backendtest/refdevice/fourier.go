package refdevice

import (
	"math"
	"math/cmplx"

	"github.com/averaged/imaging/backend"
)

// spectrum is a kernel's discrete Fourier transform on a grid of powers of two that
// holds the continued image. What wraps around lands where the kernel has not yet
// reached its full support, and is not looked at.
type spectrum struct {
	spec   backend.BlurSpec
	cols   int // of the continued image
	h, w   int // of the grid
	values []complex128
}

func newSpectrum(spec backend.BlurSpec, rows, cols int) *spectrum {
	s := &spectrum{spec: spec, cols: cols, h: powerOfTwo(rows), w: powerOfTwo(cols)}
	s.values = make([]complex128, s.h*s.w)
	for i, v := range spec.Kernel {
		s.values[i/spec.KW*s.w+i%spec.KW] = complex(float64(v), 0)
	}
	s.transform(s.values, false)
	return s
}

func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// convolve sets dst to the valid part of the kernel's convolution with e.
func (s *spectrum) convolve(dst, e []float64) {
	g := make([]complex128, s.h*s.w)
	for i, v := range e {
		g[i/s.cols*s.w+i%s.cols] = complex(v, 0)
	}
	s.transform(g, false)
	for i, v := range s.values {
		g[i] *= v
	}
	s.transform(g, true)
	_, w := s.spec.Range()
	for i := range dst {
		dst[i] = real(g[(i/w+s.spec.KH-1)*s.w+i%w+s.spec.KW-1])
	}
}

// correlate sets e to the adjoint of convolve at src.
func (s *spectrum) correlate(e, src []float64) {
	g := make([]complex128, s.h*s.w)
	_, w := s.spec.Range()
	for i, v := range src {
		g[(i/w+s.spec.KH-1)*s.w+i%w+s.spec.KW-1] = complex(v, 0)
	}
	s.transform(g, false)
	for i, v := range s.values {
		g[i] *= cmplx.Conj(v)
	}
	s.transform(g, true)
	for i := range e {
		e[i] = real(g[i/s.cols*s.w+i%s.cols])
	}
}

// transform makes the two-dimensional discrete Fourier transform in place; inverse
// includes the division by the number of elements.
func (s *spectrum) transform(g []complex128, inverse bool) {
	along, across := roots(s.w, inverse), roots(s.h, inverse)
	line := make([]complex128, max(s.h, s.w))
	for y := range s.h {
		copy(line, g[y*s.w:(y+1)*s.w])
		fft(g[y*s.w:(y+1)*s.w], line, 1, along)
	}
	column := make([]complex128, s.h)
	for x := range s.w {
		for y := range s.h {
			line[y] = g[y*s.w+x]
		}
		fft(column, line, 1, across)
		for y, v := range column {
			g[y*s.w+x] = v
		}
	}
	if inverse {
		for i := range g {
			g[i] /= complex(float64(len(g)), 0)
		}
	}
}

// roots returns the first n/2 of the n-th roots of unity.
func roots(n int, inverse bool) []complex128 {
	turn := -2 * math.Pi / float64(n)
	if inverse {
		turn = -turn
	}
	r := make([]complex128, n/2)
	for i := range r {
		r[i] = cmplx.Rect(1, turn*float64(i))
	}
	return r
}

// fft transforms every stride-th element of in, len(out) of them, by the textbook
// recursion (Cooley and Tukey 1965) for powers of two, out of the race detector's sight
// like the loops of shift.
//
//go:norace
func fft(out, in []complex128, stride int, roots []complex128) {
	half := len(out) / 2
	if half == 0 {
		out[0] = in[0]
		return
	}
	fft(out[:half], in, 2*stride, roots)
	fft(out[half:], in[stride:], 2*stride, roots)
	for i := range half {
		even, odd := out[i], roots[i*stride]*out[half+i]
		out[i], out[half+i] = even+odd, even-odd
	}
}
