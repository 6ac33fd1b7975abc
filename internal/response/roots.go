package response

import "math"

// RootError bounds the error of the cosine and of the sine that UnitRoot returns.
const RootError = 8 * Unit

// UnitRoot returns the cosine and the sine of 2πj/n, n ≥ 1, 0 ≤ j < n, each within RootError. The standard
// library states no error bound for its own.
//
// The angle is first reduced, in integers, to x in [0, π/4]; x is then in error by at
// most 2.4 units relatively (of π, a product and a quotient), which moves either
// function by at most 2 units. The Taylor polynomials of degree 20 and 21 are off by
// less than (π/4)^22/22! < 1e-23. Horner's scheme in the form 1 − z/(k(k−1))·p loses
// one unit in its last step and less than a third of what came before it, with z and p
// in error by few units: 3 units for the cosine, 4 for x·p.
func UnitRoot(j, n int) (cos, sin float64) {
	quadrant, rest := 4*j/n, 4*j%n // the angle is π/2·(quadrant + rest/n)
	swap := 2*rest > n
	if swap {
		rest = n - rest
	}
	x := math.Pi / 2 * float64(rest) / float64(n)
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

// Roots are the n-th roots of unity e^{−2πij/n}.
type Roots []complex128

// At returns root number j, of any integer j.
func (r Roots) At(j int) complex128 {
	if j %= len(r); j < 0 {
		j += len(r)
	}
	return r[j]
}

// RootsOfUnity returns those of n, each part within RootError.
func RootsOfUnity(n int) Roots {
	r := make(Roots, n)
	for i := range r {
		c, s := UnitRoot(i, n)
		r[i] = complex(c, -s)
	}
	return r
}
