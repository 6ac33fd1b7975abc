package normbound

import "math"

// hermitian is the upper triangle of a complex Hermitian matrix, rows one after the
// other, real and imaginary parts apart.
type hermitian struct {
	n      int
	re, im []float64
}

func newHermitian(n int) *hermitian {
	return &hermitian{n, make([]float64, n*(n+1)/2), make([]float64, n*(n+1)/2)}
}

// positiveDefinite tells whether square·I − H − E is proven to be positive definite
// for every Hermitian E with ‖E‖ ≤ slack. H is overwritten. The diagonal of the exact
// matrix that H stands for must not be negative.
//
// # Proof
//
// Let Â be the matrix that is factorised, with diagonal fl(square − δ − H_ii). If the
// factorisation ends, with R̂ as its result, then R̂*R̂ = Â + E with |E| ≤ √2·γ_{2n+4}·|R̂|ᵀ|R̂|
// elementwise: every part of an element is a real inner product of at most 2n terms,
// with a subtraction, a root, a reciprocal and a product, in some order (Higham 2002,
// theorem 10.3), and √2 is for the two parts. Then ‖E‖ ≤ √2·γ_{2n+4}·‖R̂‖_F², and the
// diagonal says ‖R̂‖_F² ≤ tr Â/(1 − γ_{2n+4}) (Rump, Verification of positive
// definiteness, BIT 2006). R̂*R̂ is positive semidefinite and tr Â ≤ n·square + n·slack, so
//
//	λ_min(Â) ≥ −4(n+4)·n·unit·(square + slack),
//
// where 4(n+4) has room for second-order terms. Rounding of the diagonal adds at most
// 2 units of square + slack, because H_ii ≤ square wherever the first test of a pivot is
// passed. δ is the sum of slack and all this; 8 units, and a factor for the rounding of
// δ itself, are added. Underflow adds less than 1e-300, and square is at least 0.1 here.
func (h *hermitian) positiveDefinite(square, slack float64) bool {
	n := h.n
	delta := (slack + (4*float64(n+4)*float64(n)+8)*unit*(square+slack)) * (1 + 8*unit)
	shifted := square - delta
	for i := range h.re {
		h.re[i], h.im[i] = -h.re[i], -h.im[i]
	}
	for i, at := 0, 0; i < n; i++ {
		h.re[at] += shifted
		if !(h.re[at] > 0) {
			return false
		}
		at += n - i
	}
	return h.cholesky()
}

// cholesky overwrites the upper triangle A by R with A = R*R, and tells whether all
// pivots were positive; it stops at the first that is not.
func (h *hermitian) cholesky() bool {
	re, im := h.re, h.im
	for size := h.n; size > 0; size-- {
		if !(re[0] > 0) || math.IsInf(re[0], 1) {
			return false
		}
		root := math.Sqrt(re[0])
		scale := 1 / root
		re[0] = root
		pr, pi := re[1:size], im[1:size]
		for j := range pr {
			pr[j] *= scale
			pi[j] *= scale
		}
		re, im = re[size:], im[size:]
		at := 0
		for i := range pr {
			// Row i of what is left loses conj(r_i)·r.
			a, b := pr[i], pi[i]
			c, d := pr[i:], pi[i:]
			tr, ti := re[at:][:len(c)], im[at:][:len(c)]
			d = d[:len(c)]
			for j := range c {
				tr[j] -= a*c[j] + b*d[j]
				ti[j] -= a*d[j] - b*c[j]
			}
			at += len(c)
		}
	}
	return true
}
