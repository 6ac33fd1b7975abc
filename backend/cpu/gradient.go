package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
)

// FilterGradient implements devicekit.Gradients. The sums of a tile are in float32,
// those over tiles and batch in float64: a weight may have millions of terms. A NaN
// in dy at the frame may reach the taps beyond it.
func (d *host) FilterGradient(dw, x, dy buffer, beta, scale float32) error {
	if winogradApplies(dw.Shape) {
		d.filterGradient3(&dw, &x, &dy, beta, scale)
	} else {
		d.filterGradient(&dw, &x, &dy, beta, scale)
	}
	return nil
}

// BiasGradient implements devicekit.Gradients.
func (d *host) BiasGradient(db, dy buffer, beta float32) error {
	s := dy.Shape
	k := d.kernels.vectors
	plane := s.Plane()
	blocks := (plane + vectorBlock - 1) / vectorBlock
	partial := make([]float64, s.N*s.C*blocks)
	d.pool.For(len(partial), func(i int) {
		lo := i % blocks * vectorBlock
		var sums vectors.Sums
		k.Sum(&sums, dy.Data[i/blocks*plane:][lo:min(lo+vectorBlock, plane)])
		partial[i] = sums.Total()
	})
	for c := range s.C {
		sum := 0.0
		for n := range s.N {
			for _, v := range partial[(n*s.C+c)*blocks:][:blocks] {
				sum += v
			}
		}
		v := float32(sum)
		if beta != 0 {
			v += float32(beta * db.Data[c])
		}
		db.Data[c] = v
	}
	return nil
}

// ActivationGradient implements devicekit.Gradients. A positive slope keeps signs,
// so the activation's output tells where its argument was negative.
func (d *host) ActivationGradient(dst, out, dy buffer, a backend.Activation) error {
	slope := float32(1)
	if a.Kind == backend.LeakyReLU {
		slope = a.Slope
	}
	to, at, from, k := dst.Data, out.Data, dy.Data, d.kernels.vectors
	d.pool.Range(len(to), vectorBlock, func(lo, hi int) {
		k.ActivationGradient(to[lo:hi], at[lo:hi], from[lo:hi], slope)
	})
	return nil
}
