package blurdomain

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/averaged/imaging/deblur"
)

// window is what the spectra of squares of one side have in common. They are computed in float64: the zeros of a kernel are
// up to a hundred decibels below the strongest waves.
type window struct {
	side        int
	weights     []float64 // of Hann's window; the sum of their squares is 1
	correlation []float64 // of the weights, by lag
	taper       []float64 // weights of lags that make means around a frequency
	used        []bool    // which frequencies count: one of each pair, which are equal
}

// newWindow returns that of squares for kernels of at most size samples in a row. Means are over the frequencies that such a kernel
// cannot tell apart: in lags, a Gaussian of a quarter of its size.
func newWindow(side, size int) *window {
	w := &window{side: side, taper: make([]float64, side*side), weights: make([]float64, side*side), correlation: make([]float64, side*side), used: make([]bool, side*side)}
	line, squares := make([]float64, side), 0.0
	for i := range line {
		s := math.Sin(math.Pi * (float64(i) + .5) / float64(side))
		line[i] = s * s
		squares += line[i] * line[i]
	}
	lags := make([]float64, side)
	for d := range lags {
		for i := range side {
			// Lags of more than half a side are negative ones.
			if j := i + signed(d, side); j >= 0 && j < side {
				lags[d] += line[i] * line[j] / squares
			}
		}
	}
	for i := range w.weights {
		y, x := i/side, i%side
		w.weights[i] = line[y] * line[x] / squares
		w.correlation[i] = lags[y] * lags[x]
		fy, fx := signed(y, side), signed(x, side)
		w.taper[i] = math.Exp(-8 * float64(fy*fy+fx*fx) / float64(size*size))
		w.used[i] = (fy > 0 || fy == 0 && fx > 0) && math.Hypot(float64(fy), float64(fx)) >= firstCycle
	}
	return w
}

// signed is the lag or frequency of an index.
func signed(i, side int) int {
	if i > side/2 {
		return i - side
	}
	return i
}

// response is the power of a kernel's frequency response as it is seen through the window, and its mean around each frequency.
type response spectrum

func (w *window) response(k deblur.Kernel) *response {
	n := w.side
	var r response
	kernel := make([]complex128, n*n)
	for i, v := range k.Weights {
		kernel[i/k.W*n+i%k.W] = complex(float64(v), 0)
	}
	line := fourier.NewCmplxFFT(n)
	forward(line, kernel)
	for i, v := range kernel {
		kernel[i] = complex(real(v)*real(v)+imag(v)*imag(v), 0)
	}
	inverse(line, kernel)
	around := make([]complex128, n*n)
	for i := range kernel {
		kernel[i] *= complex(w.correlation[i], 0)
		around[i] = kernel[i] * complex(w.taper[i], 0)
	}
	for i, v := range around {
		kernel[i] += complex(0, 1) * v // both are even: so are their transforms, and real
	}
	forward(line, kernel)
	r.power, r.around = positive(kernel)
	return &r
}

// spectrum is the power of a square through the window, and its mean around each frequency. White noise of variance 1 has a power
// of 1.
type spectrum struct{ power, around []float64 }

// spectra returns those of two squares, which are the real and the imaginary part of one square.
func (w *window) spectra(a, b []float64) (of, and spectrum) {
	z := make([]complex128, len(a))
	for i, v := range w.centred(a) {
		z[i] = complex(v, 0)
	}
	for i, v := range w.centred(b) {
		z[i] += complex(0, v)
	}
	n := w.side
	line := fourier.NewCmplxFFT(n)
	forward(line, z)
	power := make([]complex128, len(z))
	for i, v := range z {
		// The transforms of real squares are ½(z + z̄′) and ½(z − z̄′)/i, where z̄′ is the conjugate at the opposite frequency.
		o := cmplx.Conj(z[(n-i/n)%n*n+(n-i%n)%n])
		s, d := (v+o)/2, (v-o)/2
		power[i] = complex(real(s)*real(s)+imag(s)*imag(s), real(d)*real(d)+imag(d)*imag(d))
	}
	of.power, and.power = positive(power)
	inverse(line, power)
	for i := range power {
		power[i] *= complex(w.taper[i], 0)
	}
	forward(line, power)
	of.around, and.around = positive(power)
	return of, and
}

// centred returns a square through the window, without its mean.
func (w *window) centred(square []float64) []float64 {
	mean, sum := 0.0, 0.0
	for i, v := range square {
		mean += v * w.weights[i]
		sum += w.weights[i]
	}
	mean /= sum
	out := make([]float64, len(square))
	for i, v := range square {
		out[i] = (v - mean) * w.weights[i]
	}
	return out
}

// positive returns the real and the imaginary parts, at least a little above 0.
func positive(z []complex128) (re, im []float64) {
	re, im = make([]float64, len(z)), make([]float64, len(z))
	for i, v := range z {
		re[i], im[i] = real(v), imag(v)
	}
	for _, p := range [2][]float64{re, im} {
		least := max(1e-14*slices.Max(p), math.SmallestNonzeroFloat64)
		for i := range p {
			p[i] = max(p[i], least)
		}
	}
	return re, im
}

// forward transforms a square, in place.
func forward(line *fourier.CmplxFFT, z []complex128) {
	eachLine(line.Len(), z, func(z []complex128) { line.Coefficients(z, z) })
}

// inverse is that of forward.
func inverse(line *fourier.CmplxFFT, z []complex128) {
	eachLine(line.Len(), z, func(z []complex128) { line.Sequence(z, z) })
	for i := range z {
		z[i] /= complex(float64(len(z)), 0)
	}
}

// eachLine calls f with each row of a square of n×n, and then with each column.
func eachLine(n int, z []complex128, f func(line []complex128)) {
	for range 2 {
		for y := range n {
			f(z[y*n : (y+1)*n])
			for x := range y {
				z[y*n+x], z[x*n+y] = z[x*n+y], z[y*n+x]
			}
		}
	}
}
