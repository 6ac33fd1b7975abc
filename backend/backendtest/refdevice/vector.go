package refdevice

import (
	"math"
	"math/big"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Fill implements backend.Vectors.
func (d *Device) Fill(dst backend.Buffer, v float32) error {
	c := d.begin("Fill")
	to := c.buffer(dst)
	return c.queue(func() {
		for i := range to.data {
			to.data[i] = float64(v)
		}
	})
}

// LinearCombination implements backend.Vectors.
func (d *Device) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	c := d.begin("LinearCombination")
	c.check(devicekit.CheckTerms(len(terms)))
	to := c.buffer(dst)
	var from []*buffer
	var a []float64
	for _, t := range terms {
		x := c.buffer(t.X)
		c.check(devicekit.CheckSameShape(to, x))
		from, a = append(from, x), append(a, float64(t.A))
	}
	c.apartOrSame(to, from...)
	return c.queue(func() {
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

// Multiply implements backend.Vectors.
func (d *Device) Multiply(dst, x, y backend.Buffer) error {
	c := d.begin("Multiply")
	to, a, b := c.buffer(dst), c.buffer(x), c.buffer(y)
	c.check(devicekit.CheckSameShape(to, a, b))
	c.apartOrSame(to, a, b)
	return c.queue(func() {
		for i := range to.data {
			to.data[i] = a.data[i] * b.data[i]
		}
	})
}

// Clip implements backend.Vectors.
func (d *Device) Clip(dst, src backend.Buffer, lo, hi float32) error {
	c := d.begin("Clip")
	c.check(devicekit.CheckClip(lo, hi))
	to, from := c.buffer(dst), c.buffer(src)
	c.check(devicekit.CheckSameShape(to, from))
	c.apartOrSame(to, from)
	return c.queue(func() {
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

// MixChannels implements backend.Vectors.
func (d *Device) MixChannels(dst, src backend.Buffer, m []float32) error {
	c := d.begin("MixChannels")
	to, from := c.buffer(dst), c.buffer(src)
	c.check(devicekit.CheckMixing(to.shape, from.shape, m))
	c.apartOrSame(to, from)
	matrix := slices.Clone(m)
	return c.queue(func() {
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

// Reduce implements backend.Vectors.
func (d *Device) Reduce(out []float64, rs ...backend.Reduction) error {
	c := d.begin("Reduce")
	c.check(devicekit.CheckReductions(out, rs))
	var sums []func() float64
	for _, r := range rs {
		x := c.buffer(r.X)
		switch r.Kind {
		case backend.SumSquares:
			sums = append(sums, func() float64 { return total(x.data, func(i int) float64 { return x.data[i] * x.data[i] }) })
		case backend.Dot, backend.DiffSquares:
			y := c.buffer(r.Y)
			c.check(devicekit.CheckSameShape(x, y))
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
	return c.wait(func() {
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

// Gaussian implements backend.Vectors.
func (d *Device) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	c := d.begin("Gaussian")
	c.check(devicekit.CheckGaussian(mean, std))
	to := c.buffer(dst)
	return c.queue(func() {
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
