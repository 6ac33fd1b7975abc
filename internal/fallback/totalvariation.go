package fallback

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
)

// tv are the arrays of a step of total variation that is made of other operations.
type tv struct {
	*arrays
	p, y        backend.Buffer
	down, right backend.Buffer // two planes of the dual variable, moved down and to the right by a pixel
	r           backend.Buffer // y − ∇ᵀp in one channel
}

// newTV returns arrays that the caller frees, whatever happens.
func newTV(dev backend.Device, p, y backend.Buffer) (t *tv, err error) {
	t = &tv{arrays: newArrays(dev), p: p, y: y}
	for _, b := range []*backend.Buffer{&t.down, &t.right, &t.r} {
		if *b, err = t.plane(); err != nil {
			break
		}
	}
	return t, err
}

// plane returns an array of zeros for one channel.
func (t *tv) plane() (backend.Buffer, error) {
	s := t.y.Shape()
	return t.alloc(backend.Image(1, s.H, s.W))
}

// channel returns a channel of an array, which is freed with the others.
func (t *tv) channel(b backend.Buffer, c int) (backend.Buffer, error) {
	view, err := t.dev.Channels(b, c, 1)
	if err == nil {
		t.own[view] = true
	}
	return view, err
}

// remainder sets r to y − ∇ᵀp in channel c. What is before the first row and column is zero.
func (t *tv) remainder(c int) error {
	s := t.y.Shape()
	var planes [3]backend.Buffer
	for i, from := range []struct {
		array   backend.Buffer
		channel int
	}{{t.y, c}, {t.p, 2 * c}, {t.p, 2*c + 1}} {
		var err error
		if planes[i], err = t.channel(from.array, from.channel); err != nil {
			return err
		}
	}
	y, down, right := planes[0], planes[1], planes[2]
	if s.H > 1 {
		if err := t.dev.CopyRegion(t.down, 1, 0, down, backend.Region{Y1: s.H - 1, X1: s.W}); err != nil {
			return err
		}
	}
	if s.W > 1 {
		if err := t.dev.CopyRegion(t.right, 0, 1, right, backend.Region{Y1: s.H, X1: s.W - 1}); err != nil {
			return err
		}
	}
	if err := t.dev.LinearCombination(t.r, backend.Term{A: 1, X: y}, backend.Term{A: 1, X: down}, backend.Term{A: -1, X: t.down}); err != nil {
		return err
	}
	return t.dev.LinearCombination(t.r, backend.Term{A: 1, X: t.r}, backend.Term{A: 1, X: right}, backend.Term{A: -1, X: t.right})
}

// TVPrimal is backend.TotalVariation's made of other operations of dev.
func TVPrimal(dev backend.Device, u, p, y backend.Buffer, step float32) error {
	t, err := newTV(dev, p, y)
	defer t.freeAll()
	if err != nil {
		return err
	}
	for c := range y.Shape().C {
		if err := t.remainder(c); err != nil {
			return err
		}
		to, err := t.channel(u, c)
		if err != nil {
			return err
		}
		if step == 1 { // a NaN in u does not survive
			err = dev.LinearCombination(to, backend.Term{A: 1, X: t.r})
		} else {
			err = dev.LinearCombination(to, backend.Term{A: 1 - step, X: to}, backend.Term{A: step, X: t.r})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TVIterate is backend.TotalVariation's made of other operations of dev.
func TVIterate(dev backend.Device, u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
	t, err := newTV(dev, p, y)
	defer t.freeAll()
	if err != nil {
		return err
	}
	var ubar, moved backend.Buffer
	for _, b := range []*backend.Buffer{&ubar, &moved} {
		if *b, err = t.plane(); err != nil {
			return err
		}
	}
	radii := 1
	if !problem.Coupled {
		radii = y.Shape().C
	}
	radius, err := t.alloc(backend.Vector(radii))
	if err != nil {
		return err
	}
	if err := dev.Fill(radius, problem.Alpha); err != nil {
		return err
	}
	for c := range y.Shape().C {
		if err := t.remainder(c); err != nil {
			return err
		}
		to, err := t.channel(u, c)
		if err != nil {
			return err
		}
		for _, half := range []struct {
			to   backend.Buffer
			size float32
		}{{to, step.Primal}, {ubar, step.Extrapolation}} {
			if err := dev.LinearCombination(moved, backend.Term{A: 1, X: t.r}, backend.Term{A: -1, X: to}); err != nil {
				return err
			}
			if err := dev.LinearCombination(half.to, backend.Term{A: 1, X: to}, backend.Term{A: half.size, X: moved}); err != nil {
				return err
			}
		}
		if err := t.ascend(c, ubar, moved, step.Dual); err != nil {
			return err
		}
	}
	return dev.ProjectBalls(p, p, radius)
}

// ascend adds size·∇ubar to channel c of p. A difference is made of ubar and of a copy of it that is moved by
// a pixel, in which the last row or column stands twice: there it is zero.
func (t *tv) ascend(c int, ubar, moved backend.Buffer, size float32) error {
	plane := ubar.Shape()
	h, w := plane.H, plane.W
	for direction, move := range []struct{ body, edge backend.Region }{
		{backend.Region{Y0: 1, Y1: h, X1: w}, backend.Region{Y0: h - 1, Y1: h, X1: w}},
		{backend.Region{Y1: h, X0: 1, X1: w}, backend.Region{Y1: h, X0: w - 1, X1: w}},
	} {
		if move.body.Check(plane) == nil {
			if err := t.dev.CopyRegion(moved, 0, 0, ubar, move.body); err != nil {
				return err
			}
		}
		if err := t.dev.CopyRegion(moved, move.edge.Y0, move.edge.X0, ubar, move.edge); err != nil {
			return err
		}
		if err := t.dev.LinearCombination(moved, backend.Term{A: 1, X: moved}, backend.Term{A: -1, X: ubar}); err != nil {
			return err
		}
		dual, err := t.channel(t.p, 2*c+direction)
		if err != nil {
			return err
		}
		if err := t.dev.LinearCombination(dual, backend.Term{A: 1, X: dual}, backend.Term{A: size, X: moved}); err != nil {
			return err
		}
	}
	return nil
}

// TVEvaluate is backend.TotalVariation's, from the numbers of arrays with the given shape of y.
func TVEvaluate(pool *parallel.Pool, shape backend.Shape, u, p, y []float32, problem backend.TVProblem) backend.TVValue {
	g := tvHost{channels: shape.C, h: shape.H, w: shape.W, u: u, p: p, y: y}
	groups := [][2]int{{0, g.channels}}
	if !problem.Coupled {
		groups = nil
		for c := range g.channels {
			groups = append(groups, [2]int{c, c + 1})
		}
	}
	rows := make([]backend.TVValue, g.h)
	pool.For(g.h, func(i int) {
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
	return sum
}

// tvHost are the arrays of the ROF model.
type tvHost struct {
	channels, h, w int
	u, p, y        []float32
}

// addRow adds the share of row i of channels [from, to), whose norms are taken together.
func (g tvHost) addRow(sum *backend.TVValue, i, from, to int, alpha float64) {
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
