package blurdomain

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/averaged/imaging/deblur"
)

// window is what the spectra of squares of one side have in common. They are computed in float64: the zeros of a kernel are
// up to a hundred decibels below the strongest waves.
type window struct {
	side        int
	weights     []float64 // of Hann's window; the sum of their squares is 1
	correlation []float64 // of the weights, by lag
	used        []bool    // which frequencies count: one of each pair, which are equal
}

func newWindow(side int) *window {
	w := &window{side: side, weights: make([]float64, side*side), correlation: make([]float64, side*side), used: make([]bool, side*side)}
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
type response struct {
	power, around []float64
	taper         []float64 // the weights of lags that make the mean
}

// response returns that of a kernel. Means are over the frequencies that a kernel of so many samples in a row cannot tell apart: in
// lags, a Gaussian of a quarter of that.
func (w *window) response(k deblur.Kernel, size int) *response {
	n := w.side
	r := &response{taper: make([]float64, n*n)}
	std := float64(size) / 4
	for i := range r.taper {
		y, x := float64(signed(i/n, n)), float64(signed(i%n, n))
		r.taper[i] = math.Exp(-(y*y + x*x) / (2 * std * std))
	}
	kernel := make([]complex128, n*n)
	for i, v := range k.Weights {
		kernel[i/k.W*n+i%k.W] = complex(float64(v), 0)
	}
	transform := newTransform(n)
	transform.forward(kernel)
	for i, v := range kernel {
		kernel[i] = complex(real(v)*real(v)+imag(v)*imag(v), 0)
	}
	transform.inverse(kernel)
	around := make([]complex128, n*n)
	for i := range kernel {
		kernel[i] *= complex(w.correlation[i], 0)
		around[i] = kernel[i] * complex(r.taper[i], 0)
	}
	transform.forward(kernel)
	transform.forward(around)
	r.power, r.around = positive(kernel), positive(around)
	return r
}

// spectra returns the power of a square through the window, and its mean around each frequency, by a taper of lags. White noise
// of variance 1 has a power of 1.
func (w *window) spectra(square, taper []float64) (power, around []float64) {
	mean, sum := 0.0, 0.0
	for i, v := range square {
		mean += v * w.weights[i]
		sum += w.weights[i]
	}
	mean /= sum
	z := make([]complex128, len(square))
	for i, v := range square {
		z[i] = complex((v-mean)*w.weights[i], 0)
	}
	transform := newTransform(w.side)
	transform.forward(z)
	for i, v := range z {
		z[i] = complex(real(v)*real(v)+imag(v)*imag(v), 0)
	}
	power = positive(z)
	transform.inverse(z)
	for i := range z {
		z[i] *= complex(taper[i], 0)
	}
	transform.forward(z)
	return power, positive(z)
}

// positive returns the real parts, at least a little above 0.
func positive(z []complex128) []float64 {
	top := 0.0
	for _, v := range z {
		top = max(top, real(v))
	}
	p := make([]float64, len(z))
	for i, v := range z {
		p[i] = max(real(v), 1e-14*top, math.SmallestNonzeroFloat64)
	}
	return p
}

// transform is Fourier's of a square.
type transform struct {
	line   *fourier.CmplxFFT
	column []complex128
}

func newTransform(side int) *transform {
	return &transform{fourier.NewCmplxFFT(side), make([]complex128, side)}
}

func (t *transform) forward(z []complex128) {
	t.lines(z, func(line []complex128) { t.line.Coefficients(line, line) })
}

// inverse is that of forward.
func (t *transform) inverse(z []complex128) {
	t.lines(z, func(line []complex128) { t.line.Sequence(line, line) })
	for i := range z {
		z[i] /= complex(float64(len(z)), 0)
	}
}

// lines calls f with each row, and then with each column.
func (t *transform) lines(z []complex128, f func(line []complex128)) {
	n := len(t.column)
	for y := range n {
		f(z[y*n : (y+1)*n])
	}
	for x := range n {
		for y := range n {
			t.column[y] = z[y*n+x]
		}
		f(t.column)
		for y := range n {
			z[y*n+x] = t.column[y]
		}
	}
}
