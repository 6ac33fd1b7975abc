package normbound

import "math"

// unit is the unit roundoff of float64: fl(a∘b) = (a∘b)(1+δ) with |δ| ≤ unit.
const unit = 0x1p-53

// rootError bounds the error of the cosine and of the sine that unitRoot returns.
const rootError = 8 * unit

// unitRoot returns the cosine and the sine of 2πj/n, n a multiple of 8, 0 ≤ j < n,
// each within rootError. The standard library states no error bound for its own.
//
// The angle is first reduced, in integers, to x in [0, π/4]; x is then in error by at
// most 2.4 units relatively (of π, a product and a quotient), which moves either
// function by at most 2 units. The Taylor polynomials of degree 20 and 21 are off by
// less than (π/4)^22/22! < 1e-23. Horner's scheme in the form 1 − z/(k(k−1))·p loses
// one unit in its last step and less than a third of what came before it, with z and p
// in error by few units: 3 units for the cosine, 4 for x·p.
func unitRoot(j, n int) (cos, sin float64) {
	quarter := n / 4
	quadrant, rest := j/quarter, j%quarter
	swap := rest > n/8
	if swap {
		rest = quarter - rest
	}
	x := 2 * math.Pi * float64(rest) / float64(n)
	z := x * x
	cos, sin = 1, 1
	for k := 20.0; k >= 2; k -= 2 {
		cos = 1 - z/(k*(k-1))*cos
		sin = 1 - z/(k*(k+1))*sin
	}
	sin *= x
	if swap {
		cos, sin = sin, cos
	}
	for range quadrant {
		cos, sin = -sin, cos
	}
	return cos, sin
}

// roots is a table of e^{2πij/n}, 0 ≤ j < n. The one of n = 0 has only 1.
type roots struct {
	cos, sin []float64
}

func newRoots(n int) roots {
	if n == 0 {
		return roots{[]float64{1}, []float64{0}}
	}
	r := roots{make([]float64, n), make([]float64, n)}
	for j := range n {
		r.cos[j], r.sin[j] = unitRoot(j, n)
	}
	return r
}

// power returns e^{2πijk/n} for any integer k.
func (r roots) power(j, k int) (cos, sin float64) {
	n := len(r.cos)
	i := ((j*k)%n + n) % n
	return r.cos[i], r.sin[i]
}
