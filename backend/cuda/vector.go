package cuda

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// reductionPiece is how many elements one partial sum has; see internal/kernels/reductions.cu.
const reductionPiece = 4096

// Fill implements devicekit.Kernels.
func (d *gpu) Fill(dst devicekit.Array[address], v float32) error {
	return translate(d.gpu.Fill(d.stream, dst.Data.pointer, math.Float32bits(v), int64(dst.Shape.Len())))
}

// LinearCombination implements devicekit.Kernels.
func (d *gpu) LinearCombination(dst devicekit.Array[address], terms []devicekit.Term[address]) error {
	to := own(dst)
	if len(terms) == 1 && terms[0].A == 1 {
		from := terms[0].X.Data.pointer
		if to.pointer() == from {
			return nil
		}
		return translate(d.gpu.CopyOnDevice(d.stream, to.pointer(), from, to.bytes()))
	}
	n := dst.Shape.Len()
	args := []driver.Arg{driver.Ptr(to.pointer()), long(n), number(len(terms))}
	for k := range backend.MaxTerms {
		t := terms[min(k, len(terms)-1)] // what is not there is not read
		args = append(args, driver.Float(t.A), driver.Ptr(t.X.Data.pointer))
	}
	return d.launch("vectors", "combine", elements(n), 0, args...)
}

// Multiply implements devicekit.Kernels.
func (d *gpu) Multiply(dst, x, y devicekit.Array[address]) error {
	n := dst.Shape.Len()
	return d.launch("vectors", "multiply", elements(n), 0,
		driver.Ptr(dst.Data.pointer), driver.Ptr(x.Data.pointer), driver.Ptr(y.Data.pointer), long(n))
}

// Clip implements devicekit.Kernels.
func (d *gpu) Clip(dst, src devicekit.Array[address], lo, hi float32) error {
	n := dst.Shape.Len()
	return d.launch("vectors", "clip", elements(n), 0,
		driver.Ptr(dst.Data.pointer), driver.Ptr(src.Data.pointer), long(n), driver.Float(lo), driver.Float(hi))
}

// MixChannels implements devicekit.Mixings.
func (d *gpu) MixChannels(dst, src devicekit.Array[address], m []float32) error {
	to, from := dst.Shape, src.Shape
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
		driver.Ptr(dst.Data.pointer), driver.Ptr(src.Data.pointer), driver.Ptr(matrix),
		number(to.C), number(from.C), number(to.Plane()), number(to.N))
}

// Reduce implements devicekit.Kernels.
func (d *gpu) Reduce(out []float64, rs []devicekit.Reduction[address]) error {
	most := 0
	for _, r := range rs {
		most = max(most, ceil(r.X.Shape.Len(), reductionPiece))
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
		n := r.X.Shape.Len()
		pieces := ceil(n, reductionPiece)
		if err := d.launch("reductions", "reduce", driver.Dim{X: pieces}, 0,
			driver.Ptr(partial), number(int(r.Kind)), driver.Ptr(r.X.Data.pointer), driver.Ptr(r.Y.Data.pointer), long(n)); err != nil {
			return err
		}
		if err := d.addUp(sums+driver.Pointer(8*k), 1, partial, pieces); err != nil {
			return err
		}
	}
	return translate(d.staging.numbers(out, sums))
}

// addUp sets so many sums to those of partial sums, of which there are pieces for each, one
// of every sum after the other.
func (d *gpu) addUp(sums driver.Pointer, count int, partial driver.Pointer, pieces int) error {
	return d.launch("reductions", "add_up", driver.Dim{X: count}, 0, driver.Ptr(sums), driver.Ptr(partial), long(pieces), number(count))
}

// Gaussian implements devicekit.Gaussians.
func (d *gpu) Gaussian(dst devicekit.Array[address], seed uint64, mean, std float32) error {
	n := dst.Shape.Len()
	return d.launch("vectors", "gaussian", elements(ceil(n, 2)), 0,
		driver.Ptr(dst.Data.pointer), long(n), driver.Long(int64(seed)), driver.Float(mean), driver.Float(std))
}
