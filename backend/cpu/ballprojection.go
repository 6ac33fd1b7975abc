package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/devicekit"
)

// ballPixels is how many pixels of a group of channels one piece of work has. A group of 8
// is then 128 KiB an array.
const ballPixels = 1 << 12

// ProjectBalls implements backend.BallProjections.
func (d *Device) ProjectBalls(dst, src, radius backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		to, from, r := b[0], b[1], b[2]
		if err := d.checkBalls(to, r, from); err != nil {
			return err
		}
		k := d.kernels.vectors
		p := newBallPieces(from.shape, r.shape)
		d.pool.For(p.count(), func(i int) {
			v := p.piece(i)
			if p.ofMap {
				k.ProjectBallsMap(to.data[v.at:], from.data[v.at:], r.data[v.radius:], v.pixels, p.plane, p.size)
			} else {
				k.ProjectBalls(to.data[v.at:], from.data[v.at:], v.pixels, p.plane, p.size, r.data[v.radius])
			}
		})
		return nil
	}, dst, src, radius)
}

// checkBalls checks shapes and memory of a projection of others onto dst.
func (d *Device) checkBalls(dst, radius *buffer, others ...*buffer) error {
	for _, o := range others {
		if err := devicekit.CheckSameShape(dst, o); err != nil {
			return err
		}
		if err := apartOrSame(dst, o); err != nil {
			return err
		}
	}
	if err := devicekit.CheckBalls(dst.shape, radius.shape); err != nil {
		return err
	}
	return apart(dst, radius)
}

// ballPieces are the pieces of work on groups of channels. They depend on the shapes only.
type ballPieces struct {
	images, groups, size int // size: channels of a group
	plane, blocks        int // pixels, and pieces of them
	ofMap                bool
}

func newBallPieces(s, radius backend.Shape) ballPieces {
	return ballPieces{
		s.N, radius.C, s.C / radius.C, s.Plane(), (s.Plane() + ballPixels - 1) / ballPixels,
		radius != backend.Vector(radius.C),
	}
}

func (p ballPieces) count() int { return p.images * p.groups * p.blocks }

// ballPiece is some pixels of a group in an image: where its first channel and its radius,
// or its first radius, are.
type ballPiece struct{ at, radius, pixels int }

func (p ballPieces) piece(i int) ballPiece {
	vector, first := i/p.blocks, i%p.blocks*ballPixels
	v := ballPiece{vector*p.size*p.plane + first, vector % p.groups, min(ballPixels, p.plane-first)}
	if p.ofMap {
		v.radius = vector*p.plane + first
	}
	return v
}

// ProjectBallsGradient implements backend.BallProjections. Outside the ball, with
// n = v/‖v‖, it is radius/‖v‖·(dy − n⟨n, dy⟩), and ⟨n, dy⟩ with respect to the radius.
func (d *Device) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
	return d.operate(func(b []*buffer) error {
		to, sums, v, dy, r := b[0], b[1], b[2], b[3], b[4]
		if err := d.checkBalls(to, r, dy); err != nil {
			return err
		}
		if err := devicekit.CheckSameShape(to, v); err != nil {
			return err
		}
		if err := apart(to, v, sums); err != nil {
			return err
		}
		if err := devicekit.CheckSameShape(sums, r); err != nil {
			return err
		}
		if err := apart(sums, v, dy, r); err != nil {
			return err
		}
		k := d.kernels.vectors
		p := newBallPieces(v.shape, r.shape)
		if p.ofMap {
			d.ballMapGradient(k, p, to, sums, v, dy, r, beta)
			return nil
		}
		along := make([]float64, p.count())
		d.pool.For(p.count(), func(i int) {
			at := p.piece(i)
			var s vectors.Sums
			k.ProjectBallsGradient(to.data[at.at:], v.data[at.at:], dy.data[at.at:], at.pixels, p.plane, p.size, r.data[at.radius], &s)
			along[i] = s.Total()
		})
		for g, old := range sums.data {
			sum := 0.0
			for n := range p.images {
				for block := range p.blocks {
					sum += along[(n*p.groups+g)*p.blocks+block]
				}
			}
			out := float32(sum)
			if beta != 0 {
				out += float32(beta * old)
			}
			sums.data[g] = out
		}
		return nil
	}, dst, dradius, src, dy, radius)
}

// ballMapGradient is ProjectBallsGradient of a map of radii.
func (d *Device) ballMapGradient(k *vectors.Kernels, p ballPieces, dst, dradius, src, dy, radius *buffer, beta float32) {
	d.pool.For(p.count(), func(i int) {
		v := p.piece(i)
		to := dradius.data[v.radius:][:v.pixels]
		along := to
		if beta != 0 {
			along = make([]float32, v.pixels)
		}
		k.ProjectBallsMapGradient(dst.data[v.at:], along, src.data[v.at:], dy.data[v.at:], radius.data[v.radius:], v.pixels, p.plane, p.size)
		if beta != 0 {
			k.Combine(to, []float32{1, beta}, &[vectors.MaxTerms][]float32{along, to})
		}
	})
}
