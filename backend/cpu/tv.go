package cpu

import (
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/tvrow"
)

// tvMinBand and tvMaxBand bound how many rows of an image one piece of work
// of total variation has.
const tvMinBand, tvMaxBand = 8, 64

// tvFirstRows is how many bands one piece of work makes the first row of.
const tvFirstRows = 16

// tvBand returns how many rows a piece has in an image of h rows: few enough to
// keep all threads busy to the end, but not so few that the rows that each piece
// needs for itself add up. The results do not depend on it.
func (d *host) tvBand(h int) int {
	return min(max(h/(4*d.pool.Threads()), tvMinBand), tvMaxBand)
}

// TVIterate implements devicekit.TotalVariations.
//
// One sweep over the rows does all of it in place: dual row i needs the
// extrapolated rows ū(i) and ū(i+1), and these need only dual rows that the sweep
// has not yet written. Bands of rows run in parallel. Before any of them starts,
// the first row of u and ū of every band is made, because the band above needs it
// too; so every row is made by the same operations wherever the bands begin.
func (d *host) TVIterate(u, p, y buffer, problem backend.TVProblem, step backend.TVStep) error {
	v := d.tvArrays(u, p, y)
	groups := v.groups(problem.Coupled)
	size := d.tvBand(v.h)
	bands := (v.h + size - 1) / size
	work := make([]tvSweep, len(groups)*bands)
	layout := groups[0].layout()
	row := layout.Channels * layout.Stride
	memory := rowMemory.borrow(len(work) * (2*row + layout.Scratch()))
	defer rowMemory.giveBack(memory)
	rest := *memory
	floats := func(n int) []float32 {
		r := rest[:n:n]
		rest = rest[n:]
		return r
	}
	numbers := tvrow.NewStep(step.Primal, step.Extrapolation, step.Dual, problem.Alpha)
	for i := range work {
		g, band := groups[i/bands], i%bands
		work[i] = tvSweep{
			tvArrays: g, lo: band * size, hi: min((band+1)*size, g.h), layout: layout, step: numbers,
			first: floats(row), ubar: floats(row), scratch: floats(layout.Scratch()),
		}
		if band > 0 {
			work[i-1].next = work[i].first
		}
	}
	// A few rows are made sooner than another thread wakes up.
	d.pool.Range(len(work), tvFirstRows, func(lo, hi int) {
		for i := range work[lo:hi] {
			work[lo+i].begin()
		}
	})
	d.pool.For(len(work), func(i int) { work[i].run() })
	return nil
}

// tvSweep is the step of TVIterate on rows [lo, hi) of a group of channels. Its
// rows of ū hold one row of each channel, Layout.Stride apart.
type tvSweep struct {
	*tvArrays
	lo, hi  int
	layout  tvrow.Layout
	step    tvrow.Step
	first   []float32 // row lo of ū
	next    []float32 // row hi of ū, which is the next band's first; nil in the last
	ubar    []float32 // the row of ū that the sweep has come to
	scratch []float32
}

// begin makes row lo of u and ū.
func (s *tvSweep) begin() {
	for c := range s.channels {
		s.primalRow(c, s.lo, s.first[c*s.layout.Stride:][:s.w], &s.step)
	}
}

// run makes the other rows of u, and all of p.
func (s *tvSweep) run() {
	copy(s.ubar, s.first)
	for i := s.lo; i+1 < s.hi; i++ {
		below := (i + 1) * s.w
		s.kernels.Sweep(s.p[i*s.w:], s.u[below:], s.y[below:], s.ubar, s.scratch, s.layout, &s.step)
	}
	next := s.next
	if next == nil {
		// The last row of the image has no difference to a row below.
		next = s.ubar
	}
	s.kernels.Dual(s.p[(s.hi-1)*s.w:], s.ubar, next, s.scratch, s.layout, &s.step)
}

// TVPrimal implements devicekit.TotalVariations.
func (d *host) TVPrimal(u, p, y buffer, step float32) error {
	v := d.tvArrays(u, p, y)
	d.pool.Range(v.channels*v.h, d.tvBand(v.h), func(lo, hi int) {
		ubar := rowMemory.borrow(v.w)
		defer rowMemory.giveBack(ubar)
		numbers := tvrow.NewStep(step, 0, 0, 0)
		for k := lo; k < hi; k++ {
			c, i := k/v.h, k%v.h
			if step == 1 {
				// 0 + 1·(r − 0) is r, and a NaN in u does not survive.
				clear(v.row(v.u, c, i))
			}
			v.primalRow(c, i, *ubar, &numbers)
		}
	})
	return nil
}

// TVEvaluate implements devicekit.TotalVariations.
func (d *host) TVEvaluate(u, p, y buffer, problem backend.TVProblem) (backend.TVValue, error) {
	var total backend.TVValue
	v := d.tvArrays(u, p, y)
	for _, g := range v.groups(problem.Coupled) {
		rows := make([]backend.TVValue, g.h)
		d.pool.Range(g.h, d.tvBand(g.h), func(lo, hi int) {
			columns := columnMemory.borrow(g.w)
			defer columnMemory.giveBack(columns)
			for i := lo; i < hi; i++ {
				rows[i] = g.evaluateRow(i, *columns, float64(problem.Alpha))
			}
		})
		for _, r := range rows {
			total.Fidelity += r.Fidelity
			total.Variation += r.Variation
			total.Residual += r.Residual
			total.Product += r.Product
		}
	}
	return total, nil
}

// tvArrays are the arrays of a total variation problem.
type tvArrays struct {
	channels, h, w int
	u, p, y        []float32
	zeros          []float32 // a row of them
	kernels        *tvrow.Kernels
}

func (d *host) tvArrays(u, p, y buffer) *tvArrays {
	s := y.Shape
	return &tvArrays{
		channels: s.C, h: s.H, w: s.W, u: u.Data, p: p.Data, y: y.Data,
		zeros: make([]float32, s.W), kernels: d.kernels.tv,
	}
}

// groups returns the problem as one group of coupled channels, or cut into its
// channels.
func (v *tvArrays) groups(coupled bool) []*tvArrays {
	if coupled || v.channels == 1 {
		return []*tvArrays{v}
	}
	n := v.h * v.w
	groups := make([]*tvArrays, v.channels)
	for c := range groups {
		g := *v
		g.channels, g.u, g.p, g.y = 1, v.u[c*n:(c+1)*n], v.p[2*c*n:2*(c+1)*n], v.y[c*n:(c+1)*n]
		groups[c] = &g
	}
	return groups
}

// row returns row i of channel c.
func (v *tvArrays) row(a []float32, c, i int) []float32 {
	at := (c*v.h + i) * v.w
	return a[at : at+v.w : at+v.w]
}

// layout returns how the group's rows lie in memory. Rows of ū begin at whole
// cache lines.
func (v *tvArrays) layout() tvrow.Layout {
	const line = 16
	return tvrow.Layout{Channels: v.channels, Width: v.w, Plane: v.h * v.w, Stride: (v.w + line - 1) / line * line}
}

// primalRow makes the primal half of a step on row i of channel c, and sets ubar
// to the extrapolated row.
func (v *tvArrays) primalRow(c, i int, ubar []float32, step *tvrow.Step) {
	above := v.zeros
	if i > 0 {
		above = v.row(v.p, 2*c, i-1)
	}
	v.kernels.Primal(above, v.row(v.p, 2*c, i), v.row(v.p, 2*c+1, i), v.row(v.u, c, i), v.row(v.y, c, i), ubar, step)
}

// evaluateRow returns row i's share of the duality gap.
func (v *tvArrays) evaluateRow(i int, columns []tvrow.Column, alpha float64) backend.TVValue {
	at := i * v.w
	above, distance := v.zeros, 0
	if i > 0 {
		above, distance = v.p[at-v.w:], 2*v.h*v.w
	}
	u := v.u[at:]
	below := u // of the last row: no difference
	if i+1 < v.h {
		below = u[v.w:]
	}
	var sums tvrow.Sums
	v.kernels.Evaluate(&sums, above, distance, v.p[at:], u, below, v.y[at:], columns, v.layout(), alpha)
	return backend.TVValue{
		Fidelity:  sums.Fidelity() / 2,
		Variation: sums.Variation() * alpha,
		Residual:  sums.Residual() / 2,
		Product:   sums.Product(),
	}
}

// The scratch memory of total variation.
var (
	rowMemory    scratch[float32]
	columnMemory scratch[tvrow.Column]
)

// scratch keeps scratch memory between operations.
type scratch[T any] struct{ pool sync.Pool }

// borrow returns n elements of any value.
func (s *scratch[T]) borrow(n int) *[]T {
	if m, ok := s.pool.Get().(*[]T); ok && cap(*m) >= n {
		*m = (*m)[:n]
		return m
	}
	m := make([]T, n)
	return &m
}

// giveBack ends the use of borrowed memory.
func (s *scratch[T]) giveBack(m *[]T) { s.pool.Put(m) }
