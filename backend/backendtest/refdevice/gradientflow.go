package refdevice

import (
	"context"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// eulerStep is a step for the work on the stream.
type eulerStep struct {
	filter      *filter
	bias        *buffer // empty for none
	radius      *buffer // of balls; empty for none
	slope, size float64 // slope: of the activation, on the negative side
	tableau     backend.Tableau
}

func ownStep(s devicekit.FlowStep[[]float64, *filter]) eulerStep {
	o := eulerStep{filter: s.Filter, bias: ownOrEmpty(s.Bias), radius: ownOrEmpty(s.Radius), slope: 1, size: float64(s.Size)}
	o.tableau.B = slices.Clone(s.Tableau.B)
	for _, row := range s.Tableau.A {
		o.tableau.A = append(o.tableau.A, slices.Clone(row))
	}
	if s.Activation.Kind == backend.LeakyReLU {
		o.slope = float64(s.Activation.Slope)
	}
	return o
}

// MakesFlow implements devicekit.Flows.
func (d *stream) MakesFlow([]devicekit.FlowStep[[]float64, *filter]) bool { return true }

// GradientFlow implements devicekit.Flows. Queued work is done, even if ctx ends before its turn.
func (d *stream) GradientFlow(ctx context.Context, dst, src array, region backend.Region, steps []devicekit.FlowStep[[]float64, *filter]) error {
	to, from := own(dst), own(src)
	var all []eulerStep
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		all = append(all, ownStep(s))
	}
	return d.queue("GradientFlow", func() {
		z := begun(from, all, region)
		for _, s := range all {
			s.make(z)
		}
		for n := range to.shape.N {
			for i := range to.shape.C {
				p, q := to.plane(n, i), plane(z.data, z.shape, n, i)
				for y := region.Y0; y < region.Y1; y++ {
					first := (y-z.y0)*z.shape.W - z.x0
					copy(p[y*to.shape.W+region.X0:], q[first+region.X0:first+region.X1])
				}
			}
		}
	})
}

// state is z in float64, cut out of the image at (y0, x0).
type state struct {
	shape  backend.Shape
	y0, x0 int
	data   []float64
}

// begun returns the state before the steps: the pixels of src that the region
// depends on, and channels of zeros. Sums are made in the same order for every
// cut, so that pixels have the same bits in each of them.
func begun(src *buffer, steps []eulerStep, region backend.Region) state {
	s := src.shape
	rows, columns := 0, 0
	for _, step := range steps {
		convolutions := 2 * step.tableau.Stages()
		rows += convolutions * (step.filter.shape.H / 2)
		columns += convolutions * (step.filter.shape.W / 2)
	}
	y0, y1 := max(0, region.Y0-rows), min(s.H, region.Y1+rows)
	x0, x1 := max(0, region.X0-columns), min(s.W, region.X1+columns)
	z := state{shape: backend.Shape{N: s.N, C: steps[0].filter.shape.C, H: y1 - y0, W: x1 - x0}, y0: y0, x0: x0}
	z.data = make([]float64, z.shape.Len())
	for n := range s.N {
		for i := range s.C {
			p, q := plane(z.data, z.shape, n, i), src.plane(n, i)
			for y := y0; y < y1; y++ {
				copy(p[(y-y0)*z.shape.W:], q[y*s.W+x0:y*s.W+x1])
			}
		}
	}
	return z
}

// make makes one step: first the flow at all stages, then the sum of them.
func (s eulerStep) make(z state) {
	var flows [][]float64
	for i := range s.tableau.Stages() {
		y := z
		y.data = slices.Clone(z.data)
		for j, k := range flows {
			addScaled(y.data, -s.size*s.tableau.A[i][j], k)
		}
		flows = append(flows, s.flow(y))
	}
	for i, k := range flows {
		addScaled(z.data, -s.size*s.tableau.Weight(i), k)
	}
}

// flow returns Aᵀσ(Ay + b).
func (s eulerStep) flow(y state) []float64 {
	hidden := y.shape
	hidden.C = s.filter.shape.N
	u := make([]float64, hidden.Len())
	for n := range hidden.N {
		for o, b := range s.bias.data {
			p := plane(u, hidden, n, o)
			for i := range p {
				p[i] = b
			}
		}
		s.eachPair(y, u, hidden, n, func(at shift, w float64, y, u []float64) { at.gather(u, w, y) })
	}
	for i, v := range u {
		if v < 0 {
			u[i] = s.slope * v
		}
	}
	if len(s.radius.data) > 0 {
		project(u, u, hidden, s.radius.cut(y))
	}
	k := y
	k.data = make([]float64, len(y.data))
	for n := range hidden.N {
		s.eachPair(k, u, hidden, n, func(at shift, w float64, k, u []float64) { at.scatter(k, w, u) })
	}
	return k.data
}

// cut returns the radii for a state.
func (b *buffer) cut(z state) radii {
	r := newRadii(b)
	if !r.ofMap {
		return r
	}
	s := backend.Shape{N: z.shape.N, C: r.groups, H: z.shape.H, W: z.shape.W}
	r.data = make([]float64, s.Len())
	for n := range s.N {
		for g := range s.C {
			p, q := plane(r.data, s, n, g), b.plane(n, g)
			for y := range s.H {
				copy(p[y*s.W:(y+1)*s.W], q[(z.y0+y)*b.shape.W+z.x0:])
			}
		}
	}
	return r
}

// eachPair calls f for the planes of image n of z and u that a weight w connects.
func (s eulerStep) eachPair(z state, u []float64, hidden backend.Shape, n int, f func(at shift, w float64, z, u []float64)) {
	taps(s.filter.shape, func(k, o, i, dy, dx int) {
		f(shift{hidden.H, hidden.W, dy, dx}, s.filter.w[k], plane(z.data, z.shape, n, i), plane(u, hidden, n, o))
	})
}
