package refdevice

import (
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
)

// rof are the arrays of one call.
type rof struct {
	u, p, y *buffer
	problem backend.TVProblem
}

func newROF(u, p, y array, problem backend.TVProblem) *rof {
	return &rof{own(u), own(p), own(y), problem}
}

// at returns p at a pixel, zero outside and where the difference crosses the
// frame.
func (r *rof) at(c, direction, y, x int) float64 {
	s := r.y.shape
	if y < 0 || x < 0 || direction == 0 && y == s.H-1 || direction == 1 && x == s.W-1 {
		return 0
	}
	return r.p.plane(0, 2*c+direction)[y*s.W+x]
}

// target is y − ∇ᵀp at one pixel: y plus the divergence of p.
func (r *rof) target(c, y, x int) float64 {
	return r.y.plane(0, c)[y*r.y.shape.W+x] +
		r.at(c, 0, y, x) - r.at(c, 0, y-1, x) + r.at(c, 1, y, x) - r.at(c, 1, y, x-1)
}

// targets is y − ∇ᵀp.
func (r *rof) targets() []float64 {
	s := r.y.shape
	t := make([]float64, 0, s.Len())
	for c := range s.C {
		for i := range s.Plane() {
			t = append(t, r.target(c, i/s.W, i%s.W))
		}
	}
	return t
}

// differences returns the gradient of u at pixel i, two numbers for each channel.
func differences(u []float64, s backend.Shape, i int) []float64 {
	var g []float64
	for c := range s.C {
		p := plane(u, s, 0, c)
		down, right := 0.0, 0.0
		if i+s.W < len(p) {
			down = p[i+s.W] - p[i]
		}
		if i%s.W+1 < s.W {
			right = p[i+1] - p[i]
		}
		g = append(g, down, right)
	}
	return g
}

// groups cuts the numbers of one pixel into those that share a norm.
func (r *rof) groups(v []float64) [][]float64 {
	if r.problem.Coupled {
		return [][]float64{v}
	}
	return slices.Collect(slices.Chunk(v, 2))
}

// project shortens every group of one pixel to α in place and returns it.
func (r *rof) project(v []float64) []float64 {
	alpha := float64(r.problem.Alpha)
	for _, g := range r.groups(v) {
		if n := norm(g); n > alpha {
			for i := range g {
				g[i] = g[i] / n * alpha
			}
		}
	}
	return v
}

func norm(v []float64) float64 {
	n := 0.0
	for _, x := range v {
		n = math.Hypot(n, x)
	}
	return n
}

// pixel returns p at pixel i, two numbers for each channel.
func (r *rof) pixel(i int) []float64 {
	v := make([]float64, r.p.shape.C)
	for c := range v {
		v[c] = r.p.plane(0, c)[i]
	}
	return v
}

// TVIterate implements devicekit.TotalVariations.
func (d *stream) TVIterate(u, p, y array, problem backend.TVProblem, step backend.TVStep) error {
	r := newROF(u, p, y, problem)
	return d.queue("TVIterate", func() {
		primal, extrapolation := float64(step.Primal), float64(step.Extrapolation)
		ahead := r.targets()
		for i, t := range ahead {
			next := (1-primal)*r.u.data[i] + primal*t
			r.u.data[i] = next
			ahead[i] = (1-extrapolation)*next + extrapolation*t
		}
		for i := range r.y.shape.Plane() {
			v := r.pixel(i)
			addScaled(v, float64(step.Dual), differences(ahead, r.y.shape, i))
			for c, x := range r.project(v) {
				r.p.plane(0, c)[i] = x
			}
		}
	})
}

// TVPrimal implements devicekit.TotalVariations.
func (d *stream) TVPrimal(u, p, y array, step float32) error {
	r := newROF(u, p, y, backend.TVProblem{})
	return d.queue("TVPrimal", func() {
		if step == 1 {
			clear(r.u.data)
		}
		for i, t := range r.targets() {
			r.u.data[i] = (1-float64(step))*r.u.data[i] + float64(step)*t
		}
	})
}

// TVEvaluate implements devicekit.TotalVariations.
func (d *stream) TVEvaluate(u, p, y array, problem backend.TVProblem) (v backend.TVValue, err error) {
	r := newROF(u, p, y, problem)
	err = d.wait("TVEvaluate", func() {
		for i, t := range r.targets() {
			v.Fidelity += (r.u.data[i] - r.y.data[i]) * (r.u.data[i] - r.y.data[i]) / 2
			v.Residual += (r.u.data[i] - t) * (r.u.data[i] - t) / 2
		}
		for i := range r.y.shape.Plane() {
			g := differences(r.u.data, r.y.shape, i)
			for _, group := range r.groups(g) {
				v.Variation += float64(problem.Alpha) * norm(group)
			}
			for k, x := range r.project(r.pixel(i)) {
				v.Product += x * g[k]
			}
		}
	})
	return v, err
}
