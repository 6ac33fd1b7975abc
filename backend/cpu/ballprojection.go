package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
)

// ballPixels is how many pixels of a group of channels one piece of work has. A group of 8
// is then 128 KiB an array.
const ballPixels = 1 << 12

// ProjectBalls implements devicekit.Kernels.
func (d *host) ProjectBalls(dst, src, radius buffer) error {
	k := d.kernels.vectors
	p := newBallPieces(src.Shape, radius.Shape)
	d.pool.For(p.count(), func(i int) {
		v := p.piece(i)
		if p.ofMap {
			k.ProjectBallsMap(dst.Data[v.at:], src.Data[v.at:], radius.Data[v.radius:], v.pixels, p.plane, p.size)
		} else {
			k.ProjectBalls(dst.Data[v.at:], src.Data[v.at:], v.pixels, p.plane, p.size, radius.Data[v.radius])
		}
	})
	return nil
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

// ProjectBallsGradient implements devicekit.Gradients. Outside the ball, with
// n = v/‖v‖, it is radius/‖v‖·(dy − n⟨n, dy⟩), and ⟨n, dy⟩ with respect to the radius.
func (d *host) ProjectBallsGradient(dst, dradius, src, dy, radius buffer, beta float32) error {
	k := d.kernels.vectors
	p := newBallPieces(src.Shape, radius.Shape)
	if p.ofMap {
		d.ballMapGradient(k, p, dst.Data, dradius.Data, src.Data, dy.Data, radius.Data, beta)
		return nil
	}
	along := make([]float64, p.count())
	d.pool.For(p.count(), func(i int) {
		at := p.piece(i)
		var s vectors.Sums
		k.ProjectBallsGradient(dst.Data[at.at:], src.Data[at.at:], dy.Data[at.at:], at.pixels, p.plane, p.size, radius.Data[at.radius], &s)
		along[i] = s.Total()
	})
	for g, old := range dradius.Data {
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
		dradius.Data[g] = out
	}
	return nil
}

// ballMapGradient is ProjectBallsGradient of a map of radii.
func (d *host) ballMapGradient(k *vectors.Kernels, p ballPieces, dst, dradius, src, dy, radius []float32, beta float32) {
	d.pool.For(p.count(), func(i int) {
		v := p.piece(i)
		to := dradius[v.radius:][:v.pixels]
		along := to
		if beta != 0 {
			along = make([]float32, v.pixels)
		}
		k.ProjectBallsMapGradient(dst[v.at:], along, src[v.at:], dy[v.at:], radius[v.radius:], v.pixels, p.plane, p.size)
		if beta != 0 {
			k.Combine(to, []float32{1, beta}, &[vectors.MaxTerms][]float32{along, to})
		}
	})
}
