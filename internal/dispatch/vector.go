package dispatch

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Fill implements devicekit.Kernels.
func (k *Kernels[B]) Fill(dst Array[B], v float32) error {
	if k.fault != nil {
		return k.fault
	}
	k.worked = true
	return k.try(k.gpu.Fill(dst.Data.block, 4*int64(dst.Data.first), 4*int64(dst.Shape.Len()), bits(v)))
}

// LinearCombination implements devicekit.Kernels.
func (k *Kernels[B]) LinearCombination(dst Array[B], terms []devicekit.Term[Memory[B]]) error {
	if len(terms) == 1 && terms[0].A == 1 {
		if terms[0].X.Data == dst.Data {
			return nil
		}
		return k.CopyRegion(dst, 0, 0, terms[0].X, dst.Shape.Whole())
	}
	l, n := k.launch(), dst.Shape.Len()
	at, a := []uint32{l.array(dst)}, []uint32(nil)
	for i := range backend.MaxTerms {
		t := terms[min(i, len(terms)-1)] // what is not there is not read
		at, a = append(at, l.array(t.X)), append(a, bits(t.A))
	}
	push := append(append([]uint32{uint32(n), uint32(len(terms))}, at...), a...)
	return l.run("combine", nil, n, 1, float64(2*len(terms)), push...)
}

// Multiply implements devicekit.Kernels.
func (k *Kernels[B]) Multiply(dst, x, y Array[B]) error {
	l, n := k.launch(), dst.Shape.Len()
	to, a, b := l.array(dst), l.array(x), l.array(y)
	return l.run("multiply", nil, n, 1, 1, uint32(n), to, a, b)
}

// Clip implements devicekit.Kernels.
func (k *Kernels[B]) Clip(dst, src Array[B], lo, hi float32) error {
	l, n := k.launch(), dst.Shape.Len()
	to, from := l.array(dst), l.array(src)
	return l.run("clip", nil, n, 1, 2, uint32(n), to, from, bits(lo), bits(hi))
}

// MixChannels implements devicekit.Mixings.
func (k *Kernels[B]) MixChannels(dst, src Array[B], m []float32) error {
	s := scratch[B]{kernels: k}
	defer s.free()
	matrix, err := s.alloc(len(m))
	if err != nil {
		return err
	}
	if err := k.upload(matrix, bytesOf(m)); err != nil {
		return err
	}
	l := k.launch()
	to, from, at := l.array(dst), l.array(src), l.bind(matrix, len(m))
	return l.run("mixchannels", nil, dst.Shape.Plane(), dst.Shape.N, float64(2*len(m)),
		to, from, at, uint32(dst.Shape.C), uint32(src.Shape.C), uint32(dst.Shape.Plane()), uint32(dst.Shape.N))
}

// reductionPiece is how many elements one partial sum has; see reduce.comp.
const reductionPiece = 16384

// Reduce implements devicekit.Kernels. On a GPU without float64 the host sums up the arrays.
func (k *Kernels[B]) Reduce(out []float64, rs []devicekit.Reduction[Memory[B]]) error {
	for i, r := range rs {
		var err error
		if k.gpu.Shaders().Float64 {
			out[i], err = k.reduce(r)
		} else {
			out[i], err = k.reduceOnHost(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *Kernels[B]) reduce(r devicekit.Reduction[Memory[B]]) (float64, error) {
	n := r.X.Shape.Len()
	sums := make([]float64, ceil(n, reductionPiece))
	s := scratch[B]{kernels: k}
	defer s.free()
	partial, err := s.alloc(2 * len(sums))
	if err != nil {
		return 0, err
	}
	l := k.launch()
	to, x, y := l.bind(partial, 2*len(sums)), l.array(r.X), l.array(r.Y)
	if err := l.groups("reduce", nil, min(MaxGroups, len(sums)), 1, float64(2*n),
		to/2, x, y, uint32(n), uint32(r.Kind), uint32(len(sums))); err != nil {
		return 0, err
	}
	if err := k.download(bytesOf(sums), partial); err != nil {
		return 0, err
	}
	total := 0.0
	for _, v := range sums {
		total += v
	}
	return total, nil
}

// reduceOnHost adds in the order of the elements, in pieces so that roundings do not pile up.
func (k *Kernels[B]) reduceOnHost(r devicekit.Reduction[Memory[B]]) (float64, error) {
	x, err := k.numbers(r.X)
	if err != nil {
		return 0, err
	}
	y := x
	if r.Kind != backend.SumSquares && r.Y.Data != r.X.Data {
		if y, err = k.numbers(r.Y); err != nil {
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

// numbers downloads an array.
func (k *Kernels[B]) numbers(a Array[B]) ([]float32, error) {
	v := make([]float32, a.Shape.Len())
	return v, k.download(bytesOf(v), a.Data)
}

// ProjectBalls implements devicekit.Kernels.
func (k *Kernels[B]) ProjectBalls(dst, src, radius Array[B]) error {
	l, s := k.launch(), src.Shape
	to, from, at := l.array(dst), l.array(src), l.array(radius)
	groups := radius.Shape.C
	return l.run("balls", nil, s.Plane(), s.N*groups, float64(4*s.C/groups),
		to, from, at, uint32(s.N*groups), uint32(groups), uint32(s.C/groups), uint32(s.Plane()), flag(isMap(radius)))
}

// isMap tells whether radii are a map and no vector.
func isMap[B comparable](radius Array[B]) bool { return radius.Shape != backend.Vector(radius.Shape.C) }
