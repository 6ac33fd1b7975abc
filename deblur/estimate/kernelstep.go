package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// kernelPrior is the prior of the kernel step, in units of the sharp differences' energy.
type kernelPrior struct {
	ridge    float64 // of ‖k‖²
	sparsity float64 // of Σk
	within   []bool  // where weights may be above 0; nil: anywhere
	// towards, if not nil, is a kernel t of a term ½·pull·‖k − t‖².
	towards []float64
	pull    float64
}

// fit is the kernel step: what minimises ½kᵀAk − bᵀk + ½·ridge·‖k‖² + sparsity·Σk among the kernels
// whose weights are not negative, by projected gradients with momentum (Beck and Teboulle 2009)
// that starts anew where it leads uphill (O'Donoghue and Candès 2015), from s.
func (m *moments) fit(pool *parallel.Pool, s support, p kernelPrior) (support, error) {
	const maxSteps, tolerance = 100, 1e-4
	n, lags := s.side(), 4*s.r+1
	unit := m.a[len(m.a)/2]
	if !(unit > 0) {
		return s, nil // no edges
	}
	side := fft.GoodSize(lags)
	plan, err := fft.New(side, side)
	if err != nil {
		return s, err
	}
	image := make([]float32, side*side)
	for i, v := range m.a {
		image[wrap(i/lags-2*s.r, side)*side+wrap(i%lags-2*s.r, side)] = float32(v / unit)
	}
	spectrum, err := plan.Forward(pool, image)
	if err != nil {
		return s, err
	}
	largest := 0.0
	spectrum.Each(func(_, _ int, v complex64) complex64 {
		largest = max(largest, math.Abs(float64(real(v))))
		return v
	})
	apply := spectrum.Filter()
	step := 1 / (largest + p.ridge + p.pull)

	k := support{s.r, slices.Clone(s.k)}
	from, before, gradient := slices.Clone(s.k), slices.Clone(s.k), make([]float64, n*n)
	src := fft.Rows{H: n, W: n, Row: func(_, y int, row []float32) {
		for x := range row {
			row[x] = float32(from[y*n+x])
		}
	}}
	dst := fft.Rows{H: n, W: n, Row: func(_, y int, row []float32) {
		for x, v := range row {
			gradient[y*n+x] = float64(v)
		}
	}}
	t := 1.0
	for range maxSteps {
		if err := apply.Apply(pool, 1, dst, src, false); err != nil {
			return s, err
		}
		change, size, uphill := 0.0, 0.0, 0.0
		for i := range k.k {
			g := gradient[i] + float64(p.ridge*from[i]) - m.b[i]/unit + p.sparsity
			if p.towards != nil {
				g += float64(p.pull * (from[i] - p.towards[i]))
			}
			before[i], k.k[i] = k.k[i], max(from[i]-float64(step*g), 0)
			if p.within != nil && !p.within[i] {
				k.k[i] = 0
			}
			d := k.k[i] - before[i]
			change += float64(d * d)
			size += float64(k.k[i] * k.k[i])
			uphill += float64((from[i] - k.k[i]) * d)
		}
		next := (1 + math.Sqrt(1+4*t*t)) / 2
		momentum := (t - 1) / next
		if uphill > 0 {
			next, momentum = 1, 0
		}
		t = next
		for i := range from {
			from[i] = k.k[i] + float64(momentum*(k.k[i]-before[i]))
		}
		if change <= tolerance*tolerance*size {
			break
		}
	}
	if k.normalise() == 0 {
		return s, nil // nothing fits
	}
	return k, nil
}

// excess is ‖y − x∗k‖² of a kernel less that of s.
func (m *moments) excess(k, s support) float64 {
	form := func(k support) float64 {
		sum := m.energy(k)
		for i, v := range k.k {
			sum -= 2 * v * m.b[i]
		}
		return sum
	}
	return form(k) - form(s)
}

// energy is ‖x∗k‖², by transforms on a torus around which no lag reaches: the sum over all pairs of weights grows with the fourth
// power of the reach. They are in float64, because shapes are compared by small differences.
func (m *moments) energy(k support) float64 {
	lags := 4*m.r + 1
	side := fft.GoodSize(lags)
	if m.spectrum == nil {
		a := make([]float64, side*side)
		for i, v := range m.a {
			a[wrap(i/lags-2*m.r, side)*side+wrap(i%lags-2*m.r, side)] = v
		}
		m.spectrum = transform(a, side, side)
	}
	sum := 0.0
	for i, v := range transform(k.k, k.side(), side) {
		power := (real(v)*real(v) + imag(v)*imag(v)) * real(m.spectrum[i])
		if x := i / side; x > 0 && 2*x < side {
			power *= 2 // and its mirror image
		}
		sum += power
	}
	return sum / float64(side*side)
}

// transform is the discrete Fourier transform of n×n samples in a period of side, column by column up to the highest frequency.
func transform(v []float64, n, side int) []complex128 {
	half := side/2 + 1
	all, row, line := make([]complex128, half*side), make([]float64, side), make([]complex128, half)
	along, across := fourier.NewFFT(side), fourier.NewCmplxFFT(side)
	for y := range n {
		copy(row, v[y*n:(y+1)*n])
		for x, c := range along.Coefficients(line, row) {
			all[x*side+y] = c
		}
	}
	for x := range half {
		column := all[x*side : (x+1)*side]
		across.Coefficients(column, column)
	}
	return all
}
