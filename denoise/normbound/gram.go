package normbound

import (
	"context"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// gram is G(θ) = F(θ)*F(θ), or F(θ)F(θ)* if that is smaller, as a trigonometric
// polynomial with matrix coefficients: G(θ) = Σ C_k e^{ik·θ} over |k| ≤ 2d, where C_k =
// Σ_j W_jᵀW_{j+k} and C_{−k} = C_kᵀ. This is far cheaper to evaluate at many frequencies
// than products of F. With k from half of the plane,
//
//	Re G = C_0 + Σ (C_k + C_kᵀ) cos(k·θ),   Im G = Σ (C_k − C_kᵀ) sin(k·θ).
//
// # Rounding
//
// evaluate returns Ĝ(θ) with ‖Ĝ(θ) − G(θ)‖ ≤ slack. Write V = Σ_j |W_j|, elementwise, and
// τ = ‖V‖_F². Elementwise Σ_k |C_k| ≤ VᵀV, and a matrix with |E| ≤ ε·VᵀV has ‖E‖ ≤ ε·τ. With
// γ_m = m·unit/(1 − m·unit) and M = KH·KW·max(In, Out):
//
//   - Products of two weights are exact in float64, and adding up to M of them in any
//     order, fused or not, costs γ_M (Higham 2002, section 3.1). C_k ± C_kᵀ costs one
//     unit.
//   - cos(k·θ) and sin(k·θ) are parts of the product of two numbers of modulus 1 whose
//     parts are within response.RootError = 8 units: within 2√2·8 + 4 < 32 units.
//   - The sum over K terms costs γ_{K+1}.
//
// Real and imaginary part are therefore each within (M + K + 34 units)·VᵀV up to
// second-order terms, and together within √2 times that. slack has 2 in place of √2
// and 40 in place of 34, which leaves room for the second-order terms and for the
// rounding of τ itself.
type gram struct {
	n      int // rows and columns of G
	dy, dx int // degree of F
	terms  []term
	ry, rx roots
	tau    float64
	slack  float64

	scratch sync.Pool // of *hermitian, n×n
}

// term is one k with the upper triangles, rows one after the other, of C_k + C_kᵀ (of
// C_0 itself) and C_k − C_kᵀ.
type term struct {
	ky, kx    int
	sym, skew []float64
}

// newGram takes the weights of a filter, of finite moderate size and each with at
// most 24 significant bits.
func newGram(ctx context.Context, w []float64, shape backend.Shape, pool *parallel.Pool) (*gram, error) {
	out, in, kh, kw := shape.N, shape.C, shape.H, shape.W
	g := &gram{n: min(in, out), dy: kh / 2, dx: kw / 2}
	long := max(in, out)
	taps := make([]blas64.General, kh*kw)
	v := make([]float64, long*g.n)
	for j := range taps {
		data := make([]float64, long*g.n)
		for o := range out {
			for i := range in {
				at := o*in + i
				to := at
				if in > out {
					to = i*out + o // F is transposed, with the same singular values
				}
				data[to] = w[at*kh*kw+j]
				v[to] += math.Abs(data[to])
			}
		}
		taps[j] = blas64.General{Rows: long, Cols: g.n, Stride: g.n, Data: data}
	}
	for _, a := range v {
		g.tau += a * a
	}

	for ky := 0; ky <= 2*g.dy; ky++ {
		for kx := -2 * g.dx; kx <= 2*g.dx; kx++ {
			if ky > 0 || kx >= 0 {
				g.terms = append(g.terms, term{ky: ky, kx: kx})
			}
		}
	}
	pool.For(len(g.terms), func(i int) {
		if ctx.Err() == nil {
			g.terms[i].correlate(taps, kh, kw)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	g.slack = 2 * float64(kh*kw*long+len(g.terms)+40) * unit * g.tau
	g.ry = newRoots(finestOfAll * g.dy)
	if g.rx = g.ry; g.dx != g.dy {
		g.rx = newRoots(finestOfAll * g.dx)
	}
	return g, nil
}

// correlate computes C_k.
func (t *term) correlate(taps []blas64.General, kh, kw int) {
	n := taps[0].Cols
	c := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for y := 0; y+t.ky < kh; y++ {
		for x := max(0, -t.kx); x < kw && x+t.kx < kw; x++ {
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, taps[y*kw+x], taps[(y+t.ky)*kw+x+t.kx], 1, c)
		}
	}
	t.sym = make([]float64, 0, n*(n+1)/2)
	t.skew = make([]float64, 0, n*(n+1)/2)
	for i := range n {
		for j := i; j < n; j++ {
			a, b := c.Data[i*n+j], c.Data[j*n+i]
			if t.ky == 0 && t.kx == 0 {
				t.sym, t.skew = append(t.sym, a), append(t.skew, 0)
			} else {
				t.sym, t.skew = append(t.sym, a+b), append(t.skew, a-b)
			}
		}
	}
}

// evaluate sets dst to G at the frequency of the finest lattice.
func (g *gram) evaluate(at cell, dst *hermitian) {
	copy(dst.re, g.terms[0].sym)
	clear(dst.im)
	for i := range g.terms[1:] {
		t := &g.terms[1+i]
		cos, sin := g.wave(t, at)
		addScaled(dst.re, cos, t.sym)
		addScaled(dst.im, sin, t.skew)
	}
}

// wave returns the cosine and the sine of k·θ.
func (g *gram) wave(t *term, at cell) (cos, sin float64) {
	cy, sy := g.ry.power(at.y, t.ky)
	cx, sx := g.rx.power(at.x, t.kx)
	return cy*cx - sy*sx, sy*cx + cy*sx
}

func addScaled(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += a * x[i]
	}
}
