package cpu

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// FilterGradient implements backend.Gradients. Each weight's sum over rows and
// batch is kept in float64: it may have millions of terms.
func (d *Device) FilterGradient(dw, x, dy backend.Buffer, beta, scale float32) error {
	return d.operate(func(b []*buffer) error {
		w, in, out := b[0].shape, b[1].shape, b[2].shape
		if w.H%2 == 0 || w.W%2 == 0 {
			return fmt.Errorf("%w: filter gradient %v, height and width must be odd", backend.ErrShape, w)
		}
		if err := fits(out, in, w.N, w.C); err != nil {
			return err
		}
		if err := apart(b[0], b[1], b[2]); err != nil {
			return err
		}
		taps := w.H * w.W
		d.pool.For(w.N*w.C, func(pair int) {
			o, i := pair/w.C, pair%w.C
			for k := range taps {
				sum := 0.0
				for n := range in.N {
					xp := b[1].data[(n*in.C+i)*in.Plane():][:in.Plane()]
					yp := b[2].data[(n*out.C+o)*out.Plane():][:out.Plane()]
					sum += correlate(xp, yp, in.H, in.W, k/w.W-w.H/2, k%w.W-w.W/2)
				}
				v := float32(float64(scale) * sum)
				at := &b[0].data[pair*taps+k]
				if beta != 0 {
					v += float32(beta * *at)
				}
				*at = v
			}
		})
		return nil
	}, dw, x, dy)
}

// correlate returns Σ dy[r,c]·x[r+dr,c+dc] over the positions inside both.
func correlate(x, dy []float32, h, w, dr, dc int) float64 {
	total := 0.0
	lo, hi := max(0, -dc), min(w, w-dc)
	if lo >= hi {
		return 0
	}
	for r := max(0, -dr); r < min(h, h-dr); r++ {
		p, q := dy[r*w+lo:r*w+hi], x[(r+dr)*w+lo+dc:(r+dr)*w+hi+dc]
		q = q[:len(p)]
		for c := range p {
			total += float64(float64(p[c]) * float64(q[c]))
		}
	}
	return total
}

// BiasGradient implements backend.Gradients.
func (d *Device) BiasGradient(db, dy backend.Buffer, beta float32) error {
	return d.operate(func(b []*buffer) error {
		s := b[1].shape
		if b[0].shape.Len() != s.C {
			return fmt.Errorf("%w: bias gradient %v for %d channels", backend.ErrShape, b[0].shape, s.C)
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		d.pool.For(s.C, func(c int) {
			sum := 0.0
			for n := range s.N {
				for _, v := range b[1].data[(n*s.C+c)*s.Plane():][:s.Plane()] {
					sum += float64(v)
				}
			}
			v := float32(sum)
			if beta != 0 {
				v += float32(beta * b[0].data[c])
			}
			b[0].data[c] = v
		})
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
		if err := sameShape(b...); err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		if err := apartOrSame(b[0], b[2]); err != nil {
			return err
		}
		to, at, from := b[0].data, b[1].data, b[2].data
		d.pool.Range(len(to), vectorBlock, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				v := from[i]
				if a.Kind == backend.LeakyReLU && at[i] <= 0 {
					v *= a.Slope
				}
				to[i] = v
			}
		})
		return nil
	}, dst, out, dy)
}
