package normbound

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/parallel"
)

// peak is a frequency and a proven lower bound of σ_max there.
type peak struct {
	at    cell
	lower float64
}

// search looks for the largest σ_max(F(θ)): power iterations on a coarse lattice, then
// ascent from the best few of its points. When ctx ends it stops soon, wherever it is.
func (g *gram) search(ctx context.Context, pool *parallel.Pool) peak {
	const starts, density, steps = 4, 16, 12
	lattice := g.cut(g.coarsestCells(), finestOfAll/density)
	if len(lattice) == 0 {
		lattice = []cell{{}}
	}
	values := make([]float64, len(lattice))
	pool.For(len(lattice), func(i int) {
		if ctx.Err() != nil {
			return
		}
		h := g.scratch.Get().(*hermitian)
		defer g.scratch.Put(h)
		g.evaluate(lattice[i], h)
		values[i] = newPower(g.n).iterate(h, steps)
	})
	best := make([]peak, min(starts, len(lattice)))
	for s := range best {
		top := 0
		for i, v := range values {
			if v > values[top] {
				top = i
			}
		}
		best[s].at, values[top] = lattice[top], math.Inf(-1)
	}
	pool.For(len(best), func(s int) { best[s] = g.ascend(ctx, best[s].at.y, best[s].at.x) })
	top := best[0]
	for _, p := range best[1:] {
		if p.lower > top.lower {
			top = p
		}
	}
	return top
}

// ascend raises v*G(θ)v/v*v by turns: over v by power iteration, over θ, for which it is
// a scalar trigonometric polynomial, by compass search on the finest lattice.
func (g *gram) ascend(ctx context.Context, y, x int) peak {
	const rounds, steps, gain = 40, 16, 1e-7
	h := g.scratch.Get().(*hermitian)
	defer g.scratch.Put(h)
	p := newPower(g.n)
	at := cell{y, x}
	value := 0.0
	for range rounds {
		if ctx.Err() != nil {
			break
		}
		g.evaluate(at, h)
		p.iterate(h, steps)
		next, top := g.compass(p, at)
		done := next == at && top <= value*(1+gain)
		at, value = next, top
		if done {
			break
		}
	}
	// Rayleigh's quotient is at most S². Its own rounding is within γ_{6n+8}·‖|Ĝ|‖ and
	// ‖|Ĝ|‖ ≤ τ up to the slack.
	g.evaluate(at, h)
	quotient := p.iterate(h, steps)
	square := quotient - 2*g.slack - 8*float64(g.n+4)*unit*g.tau
	// S is at least 1, the scale of the largest weight.
	return peak{at, math.Sqrt(max(square*(1-4*unit), 1))}
}

// compass maximises v*G(θ)v from a point of the lattice on.
func (g *gram) compass(p *power, at cell) (cell, float64) {
	// v*G(θ)v = Σ a_k cos(k·θ) + b_k sin(k·θ).
	i := 0
	for r := range g.n {
		for c := r; c < g.n; c++ {
			// conj(v_r)·v_c, twice off the diagonal for the element below it.
			re, im := p.re[r]*p.re[c]+p.im[r]*p.im[c], p.re[r]*p.im[c]-p.im[r]*p.re[c]
			if c > r {
				re, im = 2*re, 2*im
			}
			p.outer.re[i], p.outer.im[i] = re, im
			i++
		}
	}
	a, b := make([]float64, len(g.terms)), make([]float64, len(g.terms))
	for k := range g.terms {
		t := &g.terms[k]
		for i, v := range p.outer.re {
			a[k] += t.sym[i] * v
			b[k] -= t.skew[i] * p.outer.im[i]
		}
	}
	value := func(at cell) float64 {
		sum := a[0]
		for k := 1; k < len(g.terms); k++ {
			cos, sin := g.wave(&g.terms[k], at)
			sum += a[k]*cos + b[k]*sin
		}
		return sum
	}
	top := value(at)
	for step := finestOfAll / 32; step > 0; {
		moved := false
		for _, c := range g.cut([]cell{at}, step) {
			if v := value(c); v > top {
				at, top, moved = c, v, true
			}
		}
		if !moved {
			step /= 2
		}
	}
	return at, top
}

// power is power iteration for the largest eigenvalue of a positive semidefinite
// matrix.
type power struct {
	re, im, nextRe, nextIm []float64
	outer                  *hermitian // workspace of compass
}

func newPower(n int) *power {
	p := &power{
		re: make([]float64, n), im: make([]float64, n),
		nextRe: make([]float64, n), nextIm: make([]float64, n),
		outer: newHermitian(n),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		p.re[i], p.im[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	return p
}

// iterate takes the given number of steps, leaves a vector of length 1 up to rounding,
// and returns Rayleigh's quotient of the vector before the last step, a lower
// bound of the largest eigenvalue up to rounding.
func (p *power) iterate(h *hermitian, steps int) (quotient float64) {
	for range steps {
		p.multiply(h)
		dot, square, next := 0.0, 0.0, 0.0
		for i := range p.re {
			dot += p.re[i]*p.nextRe[i] + p.im[i]*p.nextIm[i]
			square += p.re[i]*p.re[i] + p.im[i]*p.im[i]
			next += p.nextRe[i]*p.nextRe[i] + p.nextIm[i]*p.nextIm[i]
		}
		quotient = dot / square
		if next == 0 {
			return quotient // v lies in the kernel of G: no better vector follows
		}
		scale := 1 / math.Sqrt(next)
		for i := range p.re {
			p.re[i], p.im[i] = p.nextRe[i]*scale, p.nextIm[i]*scale
		}
	}
	return quotient
}

// multiply sets next = H·v.
func (p *power) multiply(h *hermitian) {
	clear(p.nextRe)
	clear(p.nextIm)
	n := h.n
	at := 0
	for i := range n {
		re, im := h.re[at:][:n-i], h.im[at:][:n-i]
		at += n - i
		vr, vi := p.re[i:], p.im[i:]
		wr, wi := p.nextRe[i:], p.nextIm[i:]
		xr, xi := vr[0], vi[0]
		sr, si := re[0]*xr, re[0]*xi
		for j := 1; j < len(re); j++ {
			a, b := re[j], im[j]
			sr += a*vr[j] - b*vi[j]
			si += a*vi[j] + b*vr[j]
			// The element below the diagonal is the conjugate.
			wr[j] += a*xr + b*xi
			wi[j] += a*xi - b*xr
		}
		wr[0] += sr
		wi[0] += si
	}
}
