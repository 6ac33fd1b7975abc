package refdevice

import (
	"math"
	"math/big"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Fill implements devicekit.Kernels.
func (d *stream) Fill(dst array, v float32) error {
	to := own(dst)
	return d.queue("Fill", func() {
		for i := range to.data {
			to.data[i] = float64(v)
		}
	})
}

// LinearCombination implements devicekit.Kernels.
func (d *stream) LinearCombination(dst array, terms []devicekit.Term[[]float64]) error {
	to := own(dst)
	var from []*buffer
	var a []float64
	for _, t := range terms {
		from, a = append(from, own(t.X)), append(a, float64(t.A))
	}
	return d.queue("LinearCombination", func() {
		total := make([]float64, len(to.data))
		for i, v := range from[0].data {
			total[i] = a[0] * v // not added to zero: −0 stays −0
		}
		for k, x := range from[1:] {
			for i, v := range x.data {
				total[i] += a[k+1] * v
			}
		}
		copy(to.data, total)
	})
}

// Multiply implements devicekit.Kernels.
func (d *stream) Multiply(dst, x, y array) error {
	to, a, b := own(dst), own(x), own(y)
	return d.queue("Multiply", func() {
		for i := range to.data {
			to.data[i] = a.data[i] * b.data[i]
		}
	})
}

// Clip implements devicekit.Kernels.
func (d *stream) Clip(dst, src array, lo, hi float32) error {
	to, from := own(dst), own(src)
	return d.queue("Clip", func() {
		for i, v := range from.data {
			if v < float64(lo) {
				v = float64(lo)
			} else if v > float64(hi) {
				v = float64(hi)
			}
			to.data[i] = v
		}
	})
}

// MixChannels implements devicekit.Mixings.
func (d *stream) MixChannels(dst, src array, m []float32) error {
	to, from := own(dst), own(src)
	matrix := slices.Clone(m)
	return d.queue("MixChannels", func() {
		source := slices.Clone(from.data)
		clear(to.data)
		for n := range to.shape.N {
			for j := range from.shape.C {
				x := plane(source, from.shape, n, j)
				for i := range to.shape.C {
					addScaled(to.plane(n, i), float64(matrix[i*from.shape.C+j]), x)
				}
			}
		}
	})
}

// addScaled adds a·x to y, out of the race detector's sight like the loops of shift.
//
//go:norace
func addScaled(y []float64, a float64, x []float64) {
	for i, v := range x {
		y[i] += a * v
	}
}

// Reduce implements devicekit.Kernels.
func (d *stream) Reduce(out []float64, rs []devicekit.Reduction[[]float64]) error {
	var sums []func() float64
	for _, r := range rs {
		x := own(r.X)
		switch r.Kind {
		case backend.SumSquares:
			sums = append(sums, func() float64 { return total(x.data, func(i int) float64 { return x.data[i] * x.data[i] }) })
		case backend.Dot, backend.DiffSquares:
			y := own(r.Y)
			sums = append(sums, func() float64 {
				return total(x.data, func(i int) float64 {
					if r.Kind == backend.Dot {
						return x.data[i] * y.data[i]
					}
					return (x.data[i] - y.data[i]) * (x.data[i] - y.data[i])
				})
			})
		}
	}
	return d.wait("Reduce", func() {
		for k, sum := range sums {
			out[k] = sum()
		}
	})
}

// total adds term(i) over all elements in 128 bits of precision, which is as good
// as exactly.
func total(x []float64, term func(i int) float64) float64 {
	sum := new(big.Float).SetPrec(128)
	v := new(big.Float).SetPrec(53)
	plain := 0.0
	for i := range x {
		t := term(i)
		plain += t
		if math.IsNaN(t) || math.IsInf(t, 0) {
			continue // big.Float has no NaN
		}
		sum.Add(sum, v.SetFloat64(t))
	}
	if math.IsNaN(plain) || math.IsInf(plain, 0) {
		return plain
	}
	result, _ := sum.Float64()
	return result
}

// Gaussian implements devicekit.Gaussians.
func (d *stream) Gaussian(dst array, seed uint64, mean, std float32) error {
	to := own(dst)
	return d.queue("Gaussian", func() {
		for k := 0; k < len(to.data); k += 2 {
			even, odd := backend.GaussianPair(seed, uint64(k/2))
			even, odd = float32(std*even), float32(std*odd)
			to.data[k] = float64(mean + even)
			if k+1 < len(to.data) {
				to.data[k+1] = float64(mean + odd)
			}
		}
	})
}
