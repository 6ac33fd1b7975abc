package cuda

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// reductionPiece is how many elements one partial sum has; see kernels/reductions.cu.
const reductionPiece = 4096

// Fill implements backend.Vectors.
func (d *Device) Fill(dst backend.Buffer, v float32) error {
	return d.operate(func(b []*buffer) error {
		return translate(d.gpu.Fill(d.stream, b[0].pointer, math.Float32bits(v), int64(b[0].shape.Len())))
	}, dst)
}

// LinearCombination implements backend.Vectors.
func (d *Device) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	if err := devicekit.CheckTerms(len(terms)); err != nil {
		return err
	}
	buffers := make([]backend.Buffer, 0, backend.MaxTerms+1)
	buffers = append(buffers, dst)
	for _, t := range terms {
		buffers = append(buffers, t.X)
	}
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckSameShape(b...); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[1:]...); err != nil {
			return err
		}
		if len(terms) == 1 && terms[0].A == 1 {
			if b[0].pointer == b[1].pointer {
				return nil
			}
			d.late = lateCopy{dst: b[0], src: b[1]}
			return nil
		}
		n := b[0].shape.Len()
		args := []driver.Arg{driver.Ptr(b[0].pointer), long(n), number(len(terms))}
		for k := range backend.MaxTerms {
			k = min(k, len(terms)-1) // what is not there is not read
			args = append(args, driver.Float(terms[k].A), driver.Ptr(b[k+1].pointer))
		}
		return d.launch("vectors", "combine", elements(n), 0, args...)
	}, buffers...)
}

// Multiply implements backend.Vectors.
func (d *Device) Multiply(dst, x, y backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckSameShape(b...); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[1:]...); err != nil {
			return err
		}
		n := b[0].shape.Len()
		return d.launch("vectors", "multiply", elements(n), 0,
			driver.Ptr(b[0].pointer), driver.Ptr(b[1].pointer), driver.Ptr(b[2].pointer), long(n))
	}, dst, x, y)
}

// Clip implements backend.Vectors.
func (d *Device) Clip(dst, src backend.Buffer, lo, hi float32) error {
	if err := devicekit.CheckClip(lo, hi); err != nil {
		return err
	}
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckSameShape(b...); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[1]); err != nil {
			return err
		}
		n := b[0].shape.Len()
		return d.launch("vectors", "clip", elements(n), 0,
			driver.Ptr(b[0].pointer), driver.Ptr(b[1].pointer), long(n), driver.Float(lo), driver.Float(hi))
	}, dst, src)
}

// MixChannels implements backend.Vectors.
func (d *Device) MixChannels(dst, src backend.Buffer, m []float32) error {
	return d.operate(func(b []*buffer) error {
		to, from := b[0].shape, b[1].shape
		if err := devicekit.CheckMixing(to, from, m); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[1]); err != nil {
			return err
		}
		memory := d.scratch()
		defer memory.free()
		matrix, err := memory.alloc(int64(4 * len(m)))
		if err != nil {
			return err
		}
		if err := d.staging.upload(matrix, m); err != nil {
			return translate(err)
		}
		return d.launch("vectors", "mix_channels", d.planes(to.Plane(), blockThreads, to.N), 0,
			driver.Ptr(b[0].pointer), driver.Ptr(b[1].pointer), driver.Ptr(matrix),
			number(to.C), number(from.C), number(to.Plane()), number(to.N))
	}, dst, src)
}

// Reduce implements backend.Vectors.
func (d *Device) Reduce(out []float64, rs ...backend.Reduction) error {
	if err := devicekit.CheckReductions(out, rs); err != nil {
		return err
	}
	var buffers []backend.Buffer
	for _, r := range rs {
		if r.Kind == backend.SumSquares {
			r.Y = r.X
		}
		buffers = append(buffers, r.X, r.Y)
	}
	return d.operate(func(b []*buffer) error {
		most := 0
		for k := range rs {
			if err := devicekit.CheckSameShape(b[2*k : 2*k+2]...); err != nil {
				return err
			}
			most = max(most, ceil(b[2*k].shape.Len(), reductionPiece))
		}
		if len(rs) == 0 {
			return nil
		}
		memory := d.scratch()
		defer memory.free()
		partial, err := memory.alloc(int64(8 * most))
		if err != nil {
			return err
		}
		sums, err := memory.alloc(int64(8 * len(rs)))
		if err != nil {
			return err
		}
		for k, r := range rs {
			n := b[2*k].shape.Len()
			pieces := ceil(n, reductionPiece)
			if err := d.launch("reductions", "reduce", driver.Dim{X: pieces}, 0,
				driver.Ptr(partial), number(int(r.Kind)), driver.Ptr(b[2*k].pointer), driver.Ptr(b[2*k+1].pointer), long(n)); err != nil {
				return err
			}
			if err := d.addUp(sums+driver.Pointer(8*k), 1, partial, pieces); err != nil {
				return err
			}
		}
		return translate(d.staging.numbers(out, sums))
	}, buffers...)
}

// addUp sets so many sums to those of partial sums, of which there are pieces for each, one
// of every sum after the other.
func (d *Device) addUp(sums driver.Pointer, count int, partial driver.Pointer, pieces int) error {
	return d.launch("reductions", "add_up", driver.Dim{X: count}, 0, driver.Ptr(sums), driver.Ptr(partial), long(pieces), number(count))
}

// Gaussian implements backend.Vectors.
func (d *Device) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	if err := devicekit.CheckGaussian(mean, std); err != nil {
		return err
	}
	return d.operate(func(b []*buffer) error {
		n := b[0].shape.Len()
		return d.launch("vectors", "gaussian", elements(ceil(n, 2)), 0,
			driver.Ptr(b[0].pointer), long(n), driver.Long(int64(seed)), driver.Float(mean), driver.Float(std))
	}, dst)
}
