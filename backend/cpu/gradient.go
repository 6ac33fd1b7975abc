package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/devicekit"
)

// FilterGradient implements backend.Gradients. The sums of a tile are in float32,
// those over tiles and batch in float64: a weight may have millions of terms. A NaN
// in dy at the frame may reach the taps beyond it.
func (d *Device) FilterGradient(dw, x, dy backend.Buffer, beta, scale float32) error {
	return d.operate(func(b []*buffer) error {
		w := b[0].shape
		if err := devicekit.CheckFilterGradient(w, b[1].shape, b[2].shape); err != nil {
			return err
		}
		if err := apart(b[0], b[1], b[2]); err != nil {
			return err
		}
		if winogradApplies(w) {
			d.filterGradient3(b[0], b[1], b[2], beta, scale)
		} else {
			d.filterGradient(b[0], b[1], b[2], beta, scale)
		}
		return nil
	}, dw, x, dy)
}

// BiasGradient implements backend.Gradients.
func (d *Device) BiasGradient(db, dy backend.Buffer, beta float32) error {
	return d.operate(func(b []*buffer) error {
		s := b[1].shape
		if err := devicekit.CheckBiasGradient(b[0].shape, s); err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		k := d.kernels.vectors
		plane := s.Plane()
		blocks := (plane + vectorBlock - 1) / vectorBlock
		partial := make([]float64, s.N*s.C*blocks)
		d.pool.For(len(partial), func(i int) {
			lo := i % blocks * vectorBlock
			var sums vectors.Sums
			k.Sum(&sums, b[1].data[i/blocks*plane:][lo:min(lo+vectorBlock, plane)])
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
				v += float32(beta * b[0].data[c])
			}
			b[0].data[c] = v
		}
		return nil
	}, db, dy)
}

// ActivationGradient implements backend.Gradients. A positive slope keeps signs,
// so the activation's output tells where its argument was negative.
func (d *Device) ActivationGradient(dst, out, dy backend.Buffer, a backend.Activation) error {
	if err := a.Check(); err != nil {
		return err
	}
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckSameShape(b...); err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[2]); err != nil {
			return err
		}
		slope := float32(1)
		if a.Kind == backend.LeakyReLU {
			slope = a.Slope
		}
		to, at, from, k := b[0].data, b[1].data, b[2].data, d.kernels.vectors
		d.pool.Range(len(to), vectorBlock, func(lo, hi int) {
			k.ActivationGradient(to[lo:hi], at[lo:hi], from[lo:hi], slope)
		})
		return nil
	}, dst, out, dy)
}
