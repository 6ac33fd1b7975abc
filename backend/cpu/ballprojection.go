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
		p := newBallPieces(from.shape, len(r.data))
		d.pool.For(p.count(), func(i int) {
			g, at, n := p.piece(i)
			k.ProjectBalls(to.data[at:], from.data[at:], n, p.plane, p.size, r.data[g])
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

// ballPieces are the pieces of work on groups of channels. They depend on the shape only.
type ballPieces struct {
	images, groups, size int // size: channels of a group
	plane, blocks        int // pixels, and pieces of them
}

func newBallPieces(s backend.Shape, groups int) ballPieces {
	return ballPieces{s.N, groups, s.C / groups, s.Plane(), (s.Plane() + ballPixels - 1) / ballPixels}
}

func (p ballPieces) count() int { return p.images * p.groups * p.blocks }

// piece returns the group of piece i, where its first channel begins, and its pixels.
func (p ballPieces) piece(i int) (group, at, n int) {
	vector, first := i/p.blocks, i%p.blocks*ballPixels
	return vector % p.groups, vector*p.size*p.plane + first, min(ballPixels, p.plane-first)
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
		p := newBallPieces(v.shape, len(r.data))
		along := make([]float64, p.count())
		d.pool.For(p.count(), func(i int) {
			g, at, n := p.piece(i)
			var s vectors.Sums
			k.ProjectBallsGradient(to.data[at:], v.data[at:], dy.data[at:], n, p.plane, p.size, r.data[g], &s)
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
