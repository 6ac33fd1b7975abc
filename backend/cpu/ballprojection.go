package cpu

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// ballPixels is how many pixels of a group one piece of work has: its channels stay in the
// L1 cache from the norms to the products.
const ballPixels = 256

// ProjectBalls implements backend.BallProjections.
func (d *Device) ProjectBalls(dst, src, radius backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		to, from, r := b[0], b[1], b[2]
		if err := d.checkBalls(to, r, from); err != nil {
			return err
		}
		d.eachBall(from.shape, r.data, func(g int, at []int, n int, radius float32) {
			var scale [ballPixels]float32
			groupNorms(scale[:n], from.data, at)
			for i, norm := range scale[:n] {
				scale[i] = radius / max(norm, radius)
			}
			for _, a := range at {
				out, in := to.data[a:][:n], from.data[a:][:n]
				for i, s := range scale[:n] {
					out[i] = s * in[i]
				}
			}
		})
		return nil
	}, dst, src, radius)
}

// checkBalls checks shapes and memory of a projection of others onto dst.
func (d *Device) checkBalls(dst, radius *buffer, others ...*buffer) error {
	for _, o := range others {
		if err := sameShape(dst, o); err != nil {
			return err
		}
		if err := apartOrSame(dst, o); err != nil {
			return err
		}
	}
	if err := backend.CheckBalls(dst.shape, radius.shape); err != nil {
		return err
	}
	return apart(dst, radius)
}

// eachBall calls f for pieces of n pixels of a group g; at are the places of its channels.
// The pieces are the same for any number of threads.
func (d *Device) eachBall(s backend.Shape, radius []float32, f func(g int, at []int, n int, radius float32)) {
	size, plane := s.C/len(radius), s.Plane()
	blocks := (plane + ballPixels - 1) / ballPixels
	d.pool.For(s.N*len(radius), func(i int) {
		g := i % len(radius)
		at := make([]int, size)
		for block := range blocks {
			lo := block * ballPixels
			for c := range at {
				at[c] = (i/len(radius)*s.C+g*size+c)*plane + lo
			}
			f(i, at, min(ballPixels, plane-lo), radius[g])
		}
	})
}

// groupNorms sets norms to the Euclidean norms of the vectors of n pixels. Of a radius of 0
// what is divided by stays above it.
func groupNorms(norms, x []float32, at []int) {
	clear(norms)
	for _, a := range at {
		in := x[a:][:len(norms)]
		for i, v := range in {
			norms[i] += float32(v * v)
		}
	}
	for i, s := range norms {
		norms[i] = max(float32(math.Sqrt(float64(s))), math.SmallestNonzeroFloat32)
	}
}

// ProjectBallsGradient implements backend.BallProjections. Outside the ball, with
// n = v/‖v‖, it is radius/‖v‖·(dy − n⟨n, dy⟩), and ⟨n, dy⟩ with respect to the radius.
func (d *Device) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
	return d.operate(func(b []*buffer) error {
		to, sums, v, dy, r := b[0], b[1], b[2], b[3], b[4]
		if err := d.checkBalls(to, r, dy); err != nil {
			return err
		}
		if err := sameShape(to, v); err != nil {
			return err
		}
		if err := apart(to, v, sums); err != nil {
			return err
		}
		if err := sameShape(sums, r); err != nil {
			return err
		}
		if err := apart(sums, v, dy, r); err != nil {
			return err
		}
		partial := make([]float64, to.shape.N*len(r.data))
		d.eachBall(v.shape, r.data, func(g int, at []int, n int, radius float32) {
			var norms, along [ballPixels]float32
			groupNorms(norms[:n], v.data, at)
			for _, a := range at {
				x, y := v.data[a:][:n], dy.data[a:][:n]
				for i := range x {
					along[i] += float32(x[i] * y[i])
				}
			}
			sum := 0.0
			for i, norm := range norms[:n] {
				if norm <= radius {
					norms[i], along[i] = 1, 0
					continue
				}
				along[i] /= norm
				sum += float64(along[i])
				norms[i] = radius / norm
				along[i] = along[i] * norms[i] / norm
			}
			partial[g] += sum
			for _, a := range at {
				out, x, y := to.data[a:][:n], v.data[a:][:n], dy.data[a:][:n]
				for i, s := range norms[:n] {
					out[i] = float32(s*y[i]) - float32(along[i]*x[i])
				}
			}
		})
		for g := range r.data {
			sum := 0.0
			for n := range to.shape.N {
				sum += partial[n*len(r.data)+g]
			}
			out := float32(sum)
			if beta != 0 {
				out += float32(beta * sums.data[g])
			}
			sums.data[g] = out
		}
		return nil
	}, dst, dradius, src, dy, radius)
}
