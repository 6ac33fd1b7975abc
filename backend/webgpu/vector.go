//go:build js && wasm

package webgpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Fill implements devicekit.Kernels.
func (g *gpu) Fill(dst array, v float32) error {
	if bitsOf(v) == 0 {
		return g.clear(dst.Data, dst.Shape.Len())
	}
	l, n := g.launch(), dst.Shape.Len()
	to := l.array(dst)
	return l.run("fill", nil, n, 1, 1, uint32(n), to, bitsOf(v))
}

// LinearCombination implements devicekit.Kernels.
func (g *gpu) LinearCombination(dst array, terms []devicekit.Term[memory]) error {
	if len(terms) == 1 && terms[0].A == 1 {
		if terms[0].X.Data == dst.Data {
			return nil
		}
		return g.CopyRegion(dst, 0, 0, terms[0].X, dst.Shape.Whole())
	}
	l, n := g.launch(), dst.Shape.Len()
	at, a := []uint32{l.array(dst)}, []uint32(nil)
	for k := range backend.MaxTerms {
		t := terms[min(k, len(terms)-1)] // what is not there is not read
		at, a = append(at, l.array(t.X)), append(a, bitsOf(t.A))
	}
	push := append(append([]uint32{uint32(n), uint32(len(terms))}, at...), a...)
	return l.run("combine", nil, n, 1, float64(2*len(terms)), push...)
}

// Multiply implements devicekit.Kernels.
func (g *gpu) Multiply(dst, x, y array) error {
	l, n := g.launch(), dst.Shape.Len()
	to, a, b := l.array(dst), l.array(x), l.array(y)
	return l.run("multiply", nil, n, 1, 1, uint32(n), to, a, b)
}

// Clip implements devicekit.Kernels.
func (g *gpu) Clip(dst, src array, lo, hi float32) error {
	l, n := g.launch(), dst.Shape.Len()
	to, from := l.array(dst), l.array(src)
	return l.run("clip", nil, n, 1, 2, uint32(n), to, from, bitsOf(lo), bitsOf(hi))
}

// MixChannels implements devicekit.Mixings.
func (g *gpu) MixChannels(dst, src array, m []float32) error {
	s := scratch{gpu: g}
	defer s.free()
	matrix, err := s.alloc(len(m))
	if err != nil {
		return err
	}
	if err := g.upload(matrix, bytesOf(m)); err != nil {
		return err
	}
	l := g.launch()
	to, from, at := l.array(dst), l.array(src), l.bind(matrix)
	return l.run("mixchannels", nil, dst.Shape.Plane(), dst.Shape.N, float64(2*len(m)),
		to, from, at, uint32(dst.Shape.C), uint32(src.Shape.C), uint32(dst.Shape.Plane()), uint32(dst.Shape.N))
}

// Reduce implements devicekit.Kernels. Browsers have no float64: the host adds.
func (g *gpu) Reduce(out []float64, rs []devicekit.Reduction[memory]) error {
	for k, r := range rs {
		var err error
		if out[k], err = g.reduce(r); err != nil {
			return err
		}
	}
	return nil
}

// reduce adds in the order of the elements, in pieces so that roundings do not pile up.
func (g *gpu) reduce(r devicekit.Reduction[memory]) (float64, error) {
	x, err := g.numbers(r.X)
	if err != nil {
		return 0, err
	}
	y := x
	if r.Kind != backend.SumSquares && r.Y.Data != r.X.Data {
		if y, err = g.numbers(r.Y); err != nil {
			return 0, err
		}
	}
	total, sum := 0.0, 0.0
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		if r.Kind == backend.DiffSquares {
			a -= b
			b = a
		}
		if sum += a * b; i%1024 == 1023 {
			total, sum = total+sum, 0
		}
	}
	return total + sum, nil
}

// ProjectBalls implements devicekit.Kernels.
func (g *gpu) ProjectBalls(dst, src, radius array) error {
	l, s := g.launch(), src.Shape
	to, from, at := l.array(dst), l.array(src), l.array(radius)
	groups := radius.Shape.C
	return l.run("balls", nil, s.Plane(), s.N*groups, float64(4*s.C/groups),
		to, from, at, uint32(s.N*groups), uint32(groups), uint32(s.C/groups), uint32(s.Plane()), flag(isMap(radius)))
}

// isMap tells whether radii are a map and no vector.
func isMap(radius array) bool { return radius.Shape != backend.Vector(radius.Shape.C) }
