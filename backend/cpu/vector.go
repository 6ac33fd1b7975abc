package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/devicekit"
)

// vectorBlock is how many elements one piece of an element-by-element loop has,
// and one partial sum of a reduction: 64 KiB an array, so that a few arrays stay
// in the L2 cache and a piece outweighs the hand-over to a worker.
const vectorBlock = 1 << 14

// Fill implements devicekit.Kernels.
func (d *host) Fill(dst buffer, v float32) error {
	out, k := dst.Data, d.kernels.vectors
	d.pool.Range(len(out), vectorBlock, func(lo, hi int) { k.Fill(out[lo:hi], v) })
	return nil
}

// LinearCombination implements devicekit.Kernels.
func (d *host) LinearCombination(dst buffer, terms []devicekit.Term[[]float32]) error {
	var a [backend.MaxTerms]float32
	for t := range terms {
		a[t] = terms[t].A
	}
	k := d.kernels.vectors
	d.pool.Range(len(dst.Data), vectorBlock, func(lo, hi int) {
		if len(terms) == 1 && a[0] == 1 {
			copy(dst.Data[lo:hi], terms[0].X.Data[lo:hi])
			return
		}
		var x [vectors.MaxTerms][]float32
		for t := range terms {
			x[t] = terms[t].X.Data[lo:hi]
		}
		k.Combine(dst.Data[lo:hi], a[:len(terms)], &x)
	})
	return nil
}

// Multiply implements devicekit.Kernels. The loop is bound by memory, with as little to gain
// from assembly as a copy, and its bits are the same everywhere.
func (d *host) Multiply(dst, x, y buffer) error {
	d.pool.Range(len(dst.Data), vectorBlock, func(lo, hi int) {
		out, x, y := dst.Data[lo:hi], x.Data[lo:hi], y.Data[lo:hi]
		for i := range out {
			out[i] = x[i] * y[i]
		}
	})
	return nil
}

// Clip implements devicekit.Kernels.
func (d *host) Clip(dst, src buffer, lo, hi float32) error {
	out, in, k := dst.Data, src.Data, d.kernels.vectors
	d.pool.Range(len(out), vectorBlock, func(from, to int) { k.Clip(out[from:to], in[from:to], lo, hi) })
	return nil
}

// MixChannels implements devicekit.Mixings.
func (d *host) MixChannels(dst, src buffer, m []float32) error {
	to, from := dst.Shape, src.Shape
	plane := to.Plane()
	mixing := mixing{
		matrix: m, rows: to.C, columns: from.C, plane: plane,
		inPlace: &dst.Data[0] == &src.Data[0], kernels: d.kernels.vectors,
	}
	for n := range to.N {
		out := dst.Data[n*to.C*plane : (n+1)*to.C*plane]
		in := src.Data[n*from.C*plane : (n+1)*from.C*plane]
		d.pool.Range(plane, vectorBlock/4, func(lo, hi int) {
			if from.C <= vectors.MaxTerms {
				mixing.kernels.Mix(out[lo:], in[lo:], hi-lo, plane, m, from.C)
				return
			}
			for x := lo; x < hi; x += mixedPixels {
				mixing.pixels(out, in, x, min(x+mixedPixels, hi))
			}
		})
	}
	return nil
}

// mixedPixels is how many pixels are mixed at a time: few enough that all their
// channels stay in the L1 cache until the last row of the matrix has passed.
const mixedPixels = 256

// mixing is a matrix, of more columns than one linear combination has terms, that is
// applied to the channels of images.
type mixing struct {
	matrix        []float32
	rows, columns int
	plane         int
	inPlace       bool
	kernels       *vectors.Kernels
}

// pixels sets pixels [lo, hi) of every output channel. A sum of more terms than one
// linear combination has goes on from what the last one left, which is multiplied by
// 1, so that the rounding is that of one sum from the left.
func (m *mixing) pixels(out, in []float32, lo, hi int) {
	var sources [backend.MaxMixed][]float32
	for j := range m.columns {
		sources[j] = in[j*m.plane+lo : j*m.plane+hi]
	}
	if m.inPlace {
		n := hi - lo
		copies := rowMemory.borrow(m.columns * n)
		defer rowMemory.giveBack(copies)
		for j := range m.columns {
			c := (*copies)[j*n : (j+1)*n]
			copy(c, sources[j])
			sources[j] = c
		}
	}
	for i := range m.rows {
		o := out[i*m.plane+lo : i*m.plane+hi]
		row := m.matrix[i*m.columns:][:m.columns]
		var x [vectors.MaxTerms][]float32
		first := copy(x[:], sources[:m.columns])
		m.kernels.Combine(o, row[:first], &x)
		for j := first; j < m.columns; {
			a := [vectors.MaxTerms]float32{1}
			x[0] = o
			more := copy(a[1:], row[j:])
			copy(x[1:], sources[j:j+more])
			m.kernels.Combine(o, a[:1+more], &x)
			j += more
		}
	}
}

// Reduce implements devicekit.Kernels.
func (d *host) Reduce(out []float64, rs []devicekit.Reduction[[]float32]) error {
	for i, r := range rs {
		out[i] = d.sum(r.Kind, r.X.Data, r.Y.Data)
	}
	return nil
}

// sum adds blocks' partial sums in the order of the blocks, which depend on the
// length alone.
func (d *host) sum(kind backend.ReductionKind, x, y []float32) float64 {
	k := d.kernels.vectors
	partial := make([]float64, (len(x)+vectorBlock-1)/vectorBlock)
	d.pool.Range(len(x), vectorBlock, func(lo, hi int) {
		var s vectors.Sums
		switch kind {
		case backend.Dot:
			k.Dot(&s, x[lo:hi], y[lo:hi])
		case backend.SumSquares:
			k.Squares(&s, x[lo:hi])
		default:
			k.Distance(&s, x[lo:hi], y[lo:hi])
		}
		partial[lo/vectorBlock] = s.Total()
	})
	total := 0.0
	for _, v := range partial {
		total += v
	}
	return total
}

// Gaussian implements devicekit.Gaussians.
func (d *host) Gaussian(dst buffer, seed uint64, mean, std float32) error {
	out := dst.Data
	d.pool.Range(len(out), vectorBlock, func(lo, hi int) { // lo is even
		for i := lo; i < hi; i += 2 {
			even, odd := backend.GaussianPair(seed, uint64(i/2))
			out[i] = mean + float32(std*even)
			if i+1 < hi {
				out[i+1] = mean + float32(std*odd)
			}
		}
	})
	return nil
}
