package restore_test

import (
	"math"
	"testing"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
	"github.com/stretchr/testify/require"
)

// convexProblem is min ½‖Kx − y‖² + λ·TV(x) for circular blur, in float64 and
// straight from the definitions: nothing of it is shared with the code under test.
type convexProblem struct {
	channels, h, w int
	kernel         deblur.Kernel
	y              []float64
	groups         [][]int   // axes that share a norm
	weights        []float64 // λ of each group
}

// axes are the orthonormal luma and opponent axes; a grey image has one.
func (p convexProblem) axes() [][]float64 {
	if p.channels == 1 {
		return [][]float64{{1}}
	}
	a, b, c := 1/math.Sqrt(3), 1/math.Sqrt(2), 1/math.Sqrt(6)
	return [][]float64{{a, a, a}, {b, 0, -b}, {c, -2 * c, c}}
}

func (p convexProblem) blur(x []float64, adjoint bool) []float64 {
	out := make([]float64, len(x))
	n := p.h * p.w
	for c := range p.channels {
		for i := range p.h {
			for j := range p.w {
				for r := range p.kernel.H {
					for s := range p.kernel.W {
						ii, jj := (i+p.kernel.CY-r+8*p.h)%p.h, (j+p.kernel.CX-s+8*p.w)%p.w
						k := float64(p.kernel.Weights[r*p.kernel.W+s])
						if adjoint {
							out[c*n+ii*p.w+jj] += k * x[c*n+i*p.w+j]
						} else {
							out[c*n+i*p.w+j] += k * x[c*n+ii*p.w+jj]
						}
					}
				}
			}
		}
	}
	return out
}

// gradient returns the differences of every axis: down, then right.
func (p convexProblem) gradient(x []float64) []float64 {
	n := p.h * p.w
	out := make([]float64, 2*p.channels*n)
	for a, axis := range p.axes() {
		z := make([]float64, n)
		for c, v := range axis {
			for i := range n {
				z[i] += v * x[c*n+i]
			}
		}
		for i := range n {
			if i/p.w+1 < p.h {
				out[2*a*n+i] = z[i+p.w] - z[i]
			}
			if i%p.w+1 < p.w {
				out[(2*a+1)*n+i] = z[i+1] - z[i]
			}
		}
	}
	return out
}

func (p convexProblem) gradientAdjoint(g []float64) []float64 {
	n := p.h * p.w
	out := make([]float64, p.channels*n)
	for a, axis := range p.axes() {
		z := make([]float64, n)
		for i := range n {
			if i/p.w+1 < p.h {
				z[i+p.w] += g[2*a*n+i]
				z[i] -= g[2*a*n+i]
			}
			if i%p.w+1 < p.w {
				z[i+1] += g[(2*a+1)*n+i]
				z[i] -= g[(2*a+1)*n+i]
			}
		}
		for c, v := range axis {
			for i := range n {
				out[c*n+i] += v * z[i]
			}
		}
	}
	return out
}

// norms calls f with the norm of the gradient and its elements, for every pixel
// and group.
func (p convexProblem) norms(g []float64, f func(group int, norm float64, at []int)) {
	n := p.h * p.w
	for k, group := range p.groups {
		at := make([]int, 0, 6)
		for i := range n {
			at = at[:0]
			sum := 0.0
			for _, a := range group {
				at = append(at, 2*a*n+i, (2*a+1)*n+i)
			}
			for _, j := range at {
				sum += g[j] * g[j]
			}
			f(k, math.Sqrt(sum), at)
		}
	}
}

func (p convexProblem) objective(x []float64) float64 {
	sum := 0.0
	for i, v := range p.blur(x, false) {
		sum += 0.5 * (v - p.y[i]) * (v - p.y[i])
	}
	p.norms(p.gradient(x), func(group int, norm float64, _ []int) { sum += p.weights[group] * norm })
	return sum
}

// solve is the primal-dual algorithm of Condat (2013, Algorithm 3.1) and Vũ: a
// gradient step on the data term and a projection of the dual variable, neither
// of which the code under test makes.
func (p convexProblem) solve(iterations int) []float64 {
	x := append([]float64(nil), p.y...)
	q := make([]float64, 2*len(x))
	const tau, sigma = 0.8, 0.09 // 1/τ − σ‖∇‖² ≥ ½‖K‖²: 1.25 − 0.72 ≥ 0.5
	for range iterations {
		residual := p.blur(x, false)
		for i := range residual {
			residual[i] -= p.y[i]
		}
		step, pull := p.blur(residual, true), p.gradientAdjoint(q)
		over := make([]float64, len(x))
		for i := range x {
			next := x[i] - tau*(step[i]+pull[i])
			over[i] = 2*next - x[i]
			x[i] = next
		}
		for i, v := range p.gradient(over) {
			q[i] += sigma * v
		}
		p.norms(q, func(group int, norm float64, at []int) {
			if norm > p.weights[group] {
				for _, j := range at {
					q[j] *= p.weights[group] / norm
				}
			}
		})
	}
	return x
}

// With total variation, the fixed point of the iteration is the solution of a
// convex problem: the objective agrees with an independent solver's to 1e-4.
func TestDeblurSolvesTheConvexProblem(t *testing.T) {
	if testing.Short() {
		t.Skip("a long iteration, which a run with -short leaves to the others")
	}
	k, err := deblur.Motion(4, 30)
	require.NoError(t, err)
	for _, channels := range []int{1, 3} {
		const h, w, sigma = 15, 18, 0.03
		y := noisy(blurred(t, picture(channels, h, w), k, deblur.Circular), sigma, 2)
		out, report, err := restore.Deblur(t.Context(), y, k, restore.Method("tv"), restore.Sigma(sigma), restore.Boundary(deblur.Circular),
			restore.Constraint(pnp.Unconstrained), restore.Tolerance(3e-5), restore.Iterations(3000))
		require.NoError(t, err)
		require.True(t, report.Iteration.Converged)
		p := convexProblem{channels: channels, h: h, w: w, kernel: k, groups: [][]int{{0}}, weights: []float64{report.Weight}}
		if channels == 3 {
			p.groups, p.weights = [][]int{{0}, {1, 2}}, []float64{report.Weight, 3 * report.Weight}
		}
		for _, v := range y.Pix {
			p.y = append(p.y, float64(v))
		}
		var x []float64
		for _, v := range out.(*restore.Planar).Pix {
			x = append(x, float64(v))
		}
		best := p.objective(p.solve(8000))
		got := p.objective(x)
		t.Logf("channels %d: objective %.9g, independent solver %.9g, relative difference %.1e", channels, got, best, got/best-1)
		require.InEpsilon(t, best, got, 1e-4)
		require.Greater(t, p.objective(p.y), 1.05*best, "the problem is not trivial")
	}
}
