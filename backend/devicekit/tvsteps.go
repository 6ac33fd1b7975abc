package devicekit

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// tvScratch are the arrays of a step of total variation that is made of other kernels.
type tvScratch[M, F any] struct {
	device *Device[M, F]
	taken  []M
}

// image returns an array of zeros.
func (s *tvScratch[M, F]) image(shape backend.Shape) (Array[M], error) {
	m, err := s.device.kernels.Alloc(shape)
	if err == nil {
		s.taken = append(s.taken, m)
	}
	return Array[M]{shape, m}, err
}

func (s *tvScratch[M, F]) free() {
	for _, m := range s.taken {
		s.device.kernels.Free(m)
	}
}

// shiftings are two planes that channels of p are copied to, moved by a pixel: down, and to the right.
// What is before the first row and column is zero.
type shiftings[M any] struct{ down, right Array[M] }

func (s *tvScratch[M, F]) shiftings(h, w int) (t shiftings[M], err error) {
	if t.down, err = s.image(backend.Image(1, h, w)); err == nil {
		t.right, err = s.image(backend.Image(1, h, w))
	}
	return t, err
}

// remainder sets plane r to y − ∇ᵀp in channel c.
func (d *Device[M, F]) remainder(r, p, y Array[M], c int, t shiftings[M]) error {
	k := d.kernels
	h, w := y.Shape.H, y.Shape.W
	down, right := d.plane(p, 2*c), d.plane(p, 2*c+1)
	if h > 1 {
		if err := k.CopyRegion(t.down, 1, 0, down, backend.Region{Y1: h - 1, X1: w}); err != nil {
			return err
		}
	}
	if w > 1 {
		if err := k.CopyRegion(t.right, 0, 1, right, backend.Region{Y1: h, X1: w - 1}); err != nil {
			return err
		}
	}
	if err := k.LinearCombination(r, []Term[M]{{1, d.plane(y, c)}, {1, down}, {-1, t.down}}); err != nil {
		return err
	}
	return k.LinearCombination(r, []Term[M]{{1, r}, {1, right}, {-1, t.right}})
}

// tvPrimal is TVPrimal of other kernels.
func (d *Device[M, F]) tvPrimal(u, p, y Array[M], step float32) error {
	s := tvScratch[M, F]{device: d}
	defer s.free()
	r, err := s.image(backend.Image(1, y.Shape.H, y.Shape.W))
	if err != nil {
		return err
	}
	t, err := s.shiftings(y.Shape.H, y.Shape.W)
	if err != nil {
		return err
	}
	for c := range y.Shape.C {
		if err := d.remainder(r, p, y, c, t); err != nil {
			return err
		}
		to := d.plane(u, c)
		if step == 1 { // a NaN in u does not survive
			err = d.kernels.LinearCombination(to, []Term[M]{{1, r}})
		} else {
			err = d.kernels.LinearCombination(to, []Term[M]{{1 - step, to}, {step, r}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tvIterate is TVIterate of other kernels. A difference is made of u and of a copy of it that is moved
// by a pixel, in which the last row or column stands twice: there it is zero.
func (d *Device[M, F]) tvIterate(u, p, y Array[M], problem backend.TVProblem, step backend.TVStep) error {
	s, k := tvScratch[M, F]{device: d}, d.kernels
	defer s.free()
	h, w := y.Shape.H, y.Shape.W
	plane := backend.Image(1, h, w)
	t, err := s.shiftings(h, w)
	if err != nil {
		return err
	}
	var r, ubar, moved Array[M]
	for _, a := range []*Array[M]{&r, &ubar, &moved} {
		if *a, err = s.image(plane); err != nil {
			return err
		}
	}
	radius, err := s.image(backend.Vector(map[bool]int{true: 1, false: y.Shape.C}[problem.Coupled]))
	if err != nil {
		return err
	}
	if err := k.Fill(radius, problem.Alpha); err != nil {
		return err
	}
	for c := range y.Shape.C {
		if err := d.remainder(r, p, y, c, t); err != nil {
			return err
		}
		to := d.plane(u, c)
		for _, half := range []struct {
			to   Array[M]
			size float32
		}{{to, step.Primal}, {ubar, step.Extrapolation}} {
			if err := k.LinearCombination(moved, []Term[M]{{1, r}, {-1, to}}); err != nil {
				return err
			}
			if err := k.LinearCombination(half.to, []Term[M]{{1, to}, {half.size, moved}}); err != nil {
				return err
			}
		}
		for direction, move := range []struct{ body, edge backend.Region }{
			{backend.Region{Y0: 1, Y1: h, X1: w}, backend.Region{Y0: h - 1, Y1: h, X1: w}},
			{backend.Region{Y1: h, X0: 1, X1: w}, backend.Region{Y1: h, X0: w - 1, X1: w}},
		} {
			if move.body.Check(plane) == nil {
				if err := k.CopyRegion(moved, 0, 0, ubar, move.body); err != nil {
					return err
				}
			}
			if err := k.CopyRegion(moved, move.edge.Y0, move.edge.X0, ubar, move.edge); err != nil {
				return err
			}
			if err := k.LinearCombination(moved, []Term[M]{{1, moved}, {-1, ubar}}); err != nil {
				return err
			}
			dual := d.plane(p, 2*c+direction)
			if err := k.LinearCombination(dual, []Term[M]{{1, dual}, {step.Dual, moved}}); err != nil {
				return err
			}
		}
	}
	return k.ProjectBalls(p, p, radius)
}

// tvEvaluate is TVEvaluate on the host.
func (d *Device[M, F]) tvEvaluate(u, p, y Array[M], problem backend.TVProblem) (backend.TVValue, error) {
	g := tvOnHost{
		channels: y.Shape.C, h: y.Shape.H, w: y.Shape.W,
		u: make([]float32, u.Shape.Len()), p: make([]float32, p.Shape.Len()), y: make([]float32, y.Shape.Len()),
	}
	for _, a := range []struct {
		to   []float32
		from Array[M]
	}{{g.u, u}, {g.p, p}, {g.y, y}} {
		if err := d.kernels.Download(a.to, a.from); err != nil {
			return backend.TVValue{}, err
		}
	}
	groups := [][2]int{{0, g.channels}}
	if !problem.Coupled {
		groups = nil
		for c := range g.channels {
			groups = append(groups, [2]int{c, c + 1})
		}
	}
	rows := make([]backend.TVValue, g.h)
	d.host.threads().For(g.h, func(i int) {
		for _, channels := range groups {
			g.addRow(&rows[i], i, channels[0], channels[1], float64(problem.Alpha))
		}
	})
	var sum backend.TVValue
	for _, r := range rows {
		sum.Fidelity += r.Fidelity
		sum.Variation += r.Variation
		sum.Residual += r.Residual
		sum.Product += r.Product
	}
	return sum, nil
}

// tvOnHost are the arrays of the ROF model.
type tvOnHost struct {
	channels, h, w int
	u, p, y        []float32
}

// addRow adds the share of row i of channels [from, to), whose norms are taken together.
func (g tvOnHost) addRow(sum *backend.TVValue, i, from, to int, alpha float64) {
	var row backend.TVValue
	for x := range g.w {
		gradient, norm, product := 0.0, 0.0, 0.0
		for c := from; c < to; c++ {
			at := func(a []float32, c, y, x int) float64 { return float64(a[(c*g.h+y)*g.w+x]) }
			u, y := at(g.u, c, i, x), at(g.y, c, i, x)
			down, right := at(g.p, 2*c, i, x), at(g.p, 2*c+1, i, x)
			rest := u - y - down - right // u − (y − ∇ᵀp)
			dy, dx := 0.0, 0.0
			if i > 0 {
				rest += at(g.p, 2*c, i-1, x)
			}
			if x > 0 {
				rest += at(g.p, 2*c+1, i, x-1)
			}
			if i+1 < g.h {
				dy = at(g.u, c, i+1, x) - u
			}
			if x+1 < g.w {
				dx = at(g.u, c, i, x+1) - u
			}
			row.Fidelity += (u - y) * (u - y) / 2
			row.Residual += rest * rest / 2
			gradient += dy*dy + dx*dx
			norm += down*down + right*right
			product += dy*down + dx*right
		}
		row.Variation += alpha * math.Sqrt(gradient)
		if n := math.Sqrt(norm); n > alpha {
			product *= alpha / n
		}
		row.Product += product
	}
	sum.Fidelity += row.Fidelity
	sum.Variation += row.Variation
	sum.Residual += row.Residual
	sum.Product += row.Product
}
