package cpu

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// vectorBlock is how many elements one piece of an element-by-element loop has,
// and one partial sum of a reduction: 64 KiB an array, so that a few arrays stay
// in the L2 cache and a piece outweighs the hand-over to a worker.
const vectorBlock = 1 << 14

// Fill implements backend.Vectors.
func (d *Device) Fill(dst backend.Buffer, v float32) error {
	return d.operate(func(b []*buffer) error {
		out := b[0].data
		d.pool.Range(len(out), vectorBlock, func(lo, hi int) {
			piece := out[lo:hi]
			for i := range piece {
				piece[i] = v
			}
		})
		return nil
	}, dst)
}

// LinearCombination implements backend.Vectors.
func (d *Device) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	if len(terms) < 1 || len(terms) > backend.MaxTerms {
		return fmt.Errorf("%w: linear combination of %d terms, 1 to %d are possible", backend.ErrArgument, len(terms), backend.MaxTerms)
	}
	buffers := make([]backend.Buffer, 0, backend.MaxTerms+1)
	buffers = append(buffers, dst)
	for _, t := range terms {
		buffers = append(buffers, t.X)
	}
	return d.operate(func(b []*buffer) error {
		if err := sameShape(b...); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[1:]...); err != nil {
			return err
		}
		n := len(b[0].data)
		d.pool.Range(n, vectorBlock, func(lo, hi int) {
			combine(b[0].data[lo:hi], terms, b[1:], lo)
		})
		return nil
	}, buffers...)
}

// combine sets out to the linear combination of the terms' elements from lo on.
// Each product is rounded before it is added, so that a processor with a fused
// multiply-add gives the same bits.
func combine(out []float32, terms []backend.Term, x []*buffer, lo int) {
	n := len(out)
	a0, x0 := terms[0].A, x[0].data[lo:lo+n]
	switch len(terms) {
	case 1:
		if a0 == 1 {
			copy(out, x0)
			return
		}
		for i := range out {
			out[i] = a0 * x0[i]
		}
	case 2:
		a1, x1 := terms[1].A, x[1].data[lo:lo+n]
		for i := range out {
			out[i] = float32(a0*x0[i]) + float32(a1*x1[i])
		}
	case 3:
		a1, x1 := terms[1].A, x[1].data[lo:lo+n]
		a2, x2 := terms[2].A, x[2].data[lo:lo+n]
		for i := range out {
			out[i] = float32(float32(a0*x0[i])+float32(a1*x1[i])) + float32(a2*x2[i])
		}
	default:
		a1, x1 := terms[1].A, x[1].data[lo:lo+n]
		a2, x2 := terms[2].A, x[2].data[lo:lo+n]
		a3, x3 := terms[3].A, x[3].data[lo:lo+n]
		for i := range out {
			s := float32(float32(a0*x0[i])+float32(a1*x1[i])) + float32(a2*x2[i])
			out[i] = s + float32(a3*x3[i])
		}
	}
}

// Clip implements backend.Vectors.
func (d *Device) Clip(dst, src backend.Buffer, lo, hi float32) error {
	if !(lo <= hi) {
		return fmt.Errorf("%w: clip to [%v, %v]", backend.ErrArgument, lo, hi)
	}
	return d.operate(func(b []*buffer) error {
		if err := sameShape(b...); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[1]); err != nil {
			return err
		}
		out, in := b[0].data, b[1].data
		d.pool.Range(len(out), vectorBlock, func(from, to int) {
			o, x := out[from:to], in[from:to]
			x = x[:len(o)]
			for i := range o {
				// Comparisons with NaN are false, so that NaN falls through.
				v := x[i]
				if v < lo {
					v = lo
				}
				if v > hi {
					v = hi
				}
				o[i] = v
			}
		})
		return nil
	}, dst, src)
}

// maxMixed is the largest number of channels of MixChannels.
const maxMixed = 16

// MixChannels implements backend.Vectors.
func (d *Device) MixChannels(dst, src backend.Buffer, m []float32) error {
	return d.operate(func(b []*buffer) error {
		to, from := b[0].shape, b[1].shape
		if to.N != from.N || to.H != from.H || to.W != from.W || len(m) != to.C*from.C {
			return fmt.Errorf("%w: %d coefficients from %v to %v", backend.ErrShape, len(m), from, to)
		}
		if to.C > maxMixed || from.C > maxMixed {
			return fmt.Errorf("%w: mixing %d into %d channels, at most %d are possible", backend.ErrArgument, from.C, to.C, maxMixed)
		}
		if err := apartOrSame(b[0], b[1]); err != nil {
			return err
		}
		plane := to.Plane()
		for n := range to.N {
			out := b[0].data[n*to.C*plane : (n+1)*to.C*plane]
			in := b[1].data[n*from.C*plane : (n+1)*from.C*plane]
			d.pool.Range(plane, vectorBlock/4, func(lo, hi int) {
				mix(out, in, m, to.C, from.C, plane, lo, hi)
			})
		}
		return nil
	}, dst, src)
}

// mix sets pixels [lo, hi) of every output channel. It works through columns of
// a few pixels, read as a whole before one is written, because out may be in.
func mix(out, in, m []float32, rows, cols, plane, lo, hi int) {
	const width = 64
	var columns [maxMixed][width]float32
	for x := lo; x < hi; x += width {
		n := min(width, hi-x)
		for j := range cols {
			copy(columns[j][:n], in[j*plane+x:])
		}
		for i := range rows {
			o := out[i*plane+x:][:n]
			a := m[i*cols]
			first := columns[0][:n]
			for k := range o {
				o[k] = a * first[k]
			}
			for j := 1; j < cols; j++ {
				a, c := m[i*cols+j], columns[j][:n]
				for k := range o {
					o[k] += float32(a * c[k])
				}
			}
		}
	}
}

// Reduce implements backend.Vectors.
func (d *Device) Reduce(out []float64, rs ...backend.Reduction) error {
	if len(out) != len(rs) {
		return fmt.Errorf("%w: room for %d of %d reductions", backend.ErrShape, len(out), len(rs))
	}
	for i, r := range rs {
		if r.Kind > backend.DiffSquares {
			return fmt.Errorf("%w: reduction kind %d", backend.ErrArgument, r.Kind)
		}
		if r.Kind == backend.SumSquares {
			r.Y = r.X
		}
		if err := d.operate(func(b []*buffer) error {
			if err := sameShape(b...); err != nil {
				return err
			}
			out[i] = d.sum(r.Kind, b[0].data, b[1].data)
			return nil
		}, r.X, r.Y); err != nil {
			return err
		}
	}
	return nil
}

// sum adds blocks' partial sums in the order of the blocks, which depend on the
// length alone.
func (d *Device) sum(kind backend.ReductionKind, x, y []float32) float64 {
	partial := make([]float64, (len(x)+vectorBlock-1)/vectorBlock)
	d.pool.Range(len(x), vectorBlock, func(lo, hi int) {
		p, q := x[lo:hi], y[lo:hi]
		q = q[:len(p)]
		// Four accumulators hide the latency of an addition.
		var s [4]float64
		n := len(p) &^ 3
		if kind == backend.DiffSquares {
			for i := 0; i < n; i += 4 {
				for k := range 4 {
					t := float64(p[i+k]) - float64(q[i+k])
					s[k] += float64(t * t)
				}
			}
			for i := n; i < len(p); i++ {
				t := float64(p[i]) - float64(q[i])
				s[0] += float64(t * t)
			}
		} else {
			for i := 0; i < n; i += 4 {
				s[0] += float64(float64(p[i]) * float64(q[i]))
				s[1] += float64(float64(p[i+1]) * float64(q[i+1]))
				s[2] += float64(float64(p[i+2]) * float64(q[i+2]))
				s[3] += float64(float64(p[i+3]) * float64(q[i+3]))
			}
			for i := n; i < len(p); i++ {
				s[0] += float64(float64(p[i]) * float64(q[i]))
			}
		}
		partial[lo/vectorBlock] = (s[0] + s[1]) + (s[2] + s[3])
	})
	total := 0.0
	for _, v := range partial {
		total += v
	}
	return total
}

// Gaussian implements backend.Vectors.
func (d *Device) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	if !(std >= 0) || math.IsInf(float64(std), 0) || math.IsNaN(float64(mean)) || math.IsInf(float64(mean), 0) {
		return fmt.Errorf("%w: Gaussian with mean %v and standard deviation %v", backend.ErrArgument, mean, std)
	}
	return d.operate(func(b []*buffer) error {
		out := b[0].data
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
	}, dst)
}
