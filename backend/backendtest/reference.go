package backendtest

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// The references are written straight from the definitions in package backend,
// in float64, and with no thought of speed.

// tensor is an array in float64.
type tensor struct {
	backend.Shape
	v []float64
}

func newTensor(s backend.Shape) tensor { return tensor{s, make([]float64, s.Len())} }

// widen converts an array to float64.
func widen(s backend.Shape, v []float32) tensor {
	t := newTensor(s)
	for i, x := range v {
		t.v[i] = float64(x)
	}
	return t
}

func (t tensor) index(n, c, y, x int) int { return offset(t.Shape, n, c, y, x) }

func offset(s backend.Shape, n, c, y, x int) int { return ((n*s.C+c)*s.H+y)*s.W + x }

func (t tensor) at(n, c, y, x int) float64 { return t.v[t.index(n, c, y, x)] }

// row is a row of one channel.
func (t tensor) row(n, c, y int) []float64 { return t.v[t.index(n, c, y, 0):][:t.W] }

func (t tensor) clone() tensor {
	c := newTensor(t.Shape)
	copy(c.v, t.v)
	return c
}

// add adds a·x.
func (t tensor) add(a float64, x tensor) {
	for i, v := range x.v {
		t.v[i] += a * v
	}
}

// sum adds with Neumaier's compensation, so that the reference of a sum is right
// to the last bits.
type sum struct{ total, lost, scale float64 }

func (s *sum) add(x float64) {
	t := s.total + x
	if math.Abs(s.total) >= math.Abs(x) {
		s.lost += (s.total - t) + x
	} else {
		s.lost += (x - t) + s.total
	}
	s.total = t
	s.scale += math.Abs(x)
}

func (s *sum) number() number { return number{s.total + s.lost, s.scale} }

// inner is the inner product of two arrays.
func inner(a, b tensor) number {
	var s sum
	for i := range a.v {
		s.add(a.v[i] * b.v[i])
	}
	return s.number()
}
