package tv_test

import (
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
)

// rof is a plain float64 solver of the ROF model on channels that share all norms
// or none: fast dual gradient projection with restart (Beck and Teboulle 2009,
// O'Donoghue and Candès 2015). It is the oracle of the tests, and on purpose
// another method than the package's.
type rof struct {
	c, h, w int
	alpha   float64
	coupled bool
}

// gradient returns the 2·c planes of differences of u.
func (r rof) gradient(u []float64) []float64 {
	n := r.h * r.w
	g := make([]float64, 2*len(u))
	for c := range r.c {
		for i := range r.h {
			for j := range r.w {
				k := c*n + i*r.w + j
				if i+1 < r.h {
					g[2*c*n+i*r.w+j] = u[k+r.w] - u[k]
				}
				if j+1 < r.w {
					g[(2*c+1)*n+i*r.w+j] = u[k+1] - u[k]
				}
			}
		}
	}
	return g
}

// primal returns y − ∇ᵀp.
func (r rof) primal(p, y []float64) []float64 {
	n := r.h * r.w
	u := append([]float64(nil), y...)
	for c := range r.c {
		for i := range r.h {
			for j := range r.w {
				k := c*n + i*r.w + j
				if i+1 < r.h {
					u[k] += p[2*c*n+i*r.w+j]
					u[k+r.w] -= p[2*c*n+i*r.w+j]
				}
				if j+1 < r.w {
					u[k] += p[(2*c+1)*n+i*r.w+j]
					u[k+1] -= p[(2*c+1)*n+i*r.w+j]
				}
			}
		}
	}
	return u
}

// norms calls f with the indices of every group of dual numbers that share a norm.
func (r rof) norms(f func(at []int)) {
	n := r.h * r.w
	group := 2
	if r.coupled {
		group = 2 * r.c
	}
	at := make([]int, group)
	for from := 0; from < 2*r.c; from += group {
		for k := range n {
			for i := range at {
				at[i] = (from+i)*n + k
			}
			f(at)
		}
	}
}

func length(v []float64, at []int) float64 {
	s := 0.0
	for _, i := range at {
		s += v[i] * v[i]
	}
	return math.Sqrt(s)
}

// variation returns Σ‖∇u‖.
func (r rof) variation(u []float64) float64 {
	g, s := r.gradient(u), 0.0
	r.norms(func(at []int) { s += length(g, at) })
	return s
}

// solve returns u with a duality gap of at most relative times the primal
// objective.
func (r rof) solve(y []float64, relative float64) []float64 {
	p := make([]float64, 2*len(y))
	q := append([]float64(nil), p...)
	t := 1.0
	for it := 0; ; it++ {
		if it%20 == 0 {
			u := r.primal(p, y)
			gap := r.alpha*r.variation(u) - inner(r.gradient(u), p)
			if gap <= relative*(distance(u, y)*distance(u, y)/2+r.alpha*r.variation(u)) || it == 200000 {
				return u
			}
		}
		g := r.gradient(r.primal(q, y))
		next := append([]float64(nil), q...)
		for i := range next {
			next[i] += g[i] / 8
		}
		r.norms(func(at []int) {
			if l := length(next, at); l > r.alpha {
				for _, i := range at {
					next[i] *= r.alpha / l
				}
			}
		})
		uphill := 0.0
		for i := range next {
			uphill += (q[i] - next[i]) * (next[i] - p[i])
		}
		grown := (1 + math.Sqrt(1+4*t*t)) / 2
		m := (t - 1) / grown
		t = grown
		if uphill > 0 {
			m, t = 0, 1
		}
		for i := range next {
			q[i] = next[i] + m*(next[i]-p[i])
		}
		p = next
	}
}

func inner(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func norm(a []float64) float64 { return math.Sqrt(inner(a, a)) }

func distance(a, b []float64) float64 { return norm(minus(a, b)) }

func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// opponentAxes are luma, red against blue, and green against magenta.
var opponentAxes = [3][3]float64{
	{1 / math.Sqrt(3), 1 / math.Sqrt(3), 1 / math.Sqrt(3)},
	{1 / math.Sqrt2, 0, -1 / math.Sqrt2},
	{1 / math.Sqrt(6), -2 / math.Sqrt(6), 1 / math.Sqrt(6)},
}

// change multiplies every pixel of a three-channel image by the axes, or by their
// transpose.
func change(x []float64, back bool) []float64 {
	n := len(x) / 3
	out := make([]float64, len(x))
	for i := range 3 {
		for j := range 3 {
			a := opponentAxes[i][j]
			if back {
				a = opponentAxes[j][i]
			}
			for k := range n {
				out[i*n+k] += a * x[j*n+k]
			}
		}
	}
	return out
}

// picture returns an image of a few flat and sloping regions, with noise.
func picture(s backend.Shape, sigma float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, s.Len())
	for c := range s.C {
		for i := range s.H {
			for j := range s.W {
				v := 0.3 + 0.1*float64(c)
				if 2*i > s.H {
					v += 0.3
				}
				if 3*j > 2*s.W {
					v -= 0.2 + 0.2*float64(i)/float64(s.H)
				}
				x[(c*s.H+i)*s.W+j] = float32(v + sigma*r.NormFloat64())
			}
		}
	}
	return x
}

func widen(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}
