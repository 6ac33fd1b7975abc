package averaged

import (
	"math"
	"math/big"
)

// unit is the unit roundoff of float64.
const unit = 0x1p-53

// EulerStep returns the constant of one Euler step z − step·Aᵀσ(Az + b):
// α = step·norm²·L/2, or +Inf if that is above 1 (the paper, theorem 2.8 and, for α = 1,
// theorem 2.3; Bauschke and Combettes 2017, proposition 4.39). norm is an upper bound of
// ‖A‖ and L the Lipschitz constant of σ, the gradient of a convex function. Only the
// result is rounded.
func EulerStep(step, norm, L float64) float64 {
	if !(step >= 0 && norm >= 0 && L >= 0) {
		return math.Inf(1)
	}
	if math.IsInf(step, 1) || math.IsInf(norm, 1) || math.IsInf(L, 1) {
		return math.Inf(1)
	}
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	alpha := new(big.Rat).Mul(exact(norm), exact(norm))
	alpha.Mul(alpha, exact(step)).Mul(alpha, exact(L)).Mul(alpha, big.NewRat(1, 2))
	if alpha.Cmp(big.NewRat(1, 1)) > 0 {
		return math.Inf(1)
	}
	above, _ := alpha.Float64()
	if exact(above).Cmp(alpha) < 0 {
		above = math.Nextafter(above, 1)
	}
	return above
}

// Composition returns the constant of a composition of α_i-averaged maps, in any order: α = s/(1+s) with s =
// Σ α_i/(1−α_i) (Combettes and Yamada, Compositions and convex combinations of averaged nonexpansive
// operators, 2015, proposition 2.5). No smaller constant follows from the α_i alone. If one of them is 1, the
// result is 1. The composition of no maps is the identity, with the constant 0.
func Composition(alphas ...float64) float64 {
	if constant, decided := degenerate(alphas); decided {
		return constant
	}
	s := 0.0
	for _, a := range alphas {
		s += a / (1 - a)
	}
	// A sum of positive terms, each with two roundings, is off by n+2 units, which s/(1+s)
	// does not enlarge.
	s *= 1 + float64(len(alphas)+4)*2*unit
	if math.IsInf(s, 1) {
		return 1
	}
	return min(1, proven(s/(1+s)))
}

// UniformComposition returns m/(m − 1 + 1/max α_i), the older and larger constant of a composition of m maps
// (Bauschke and Combettes 2011, proposition 4.32; the paper, theorem 2.9). It equals Composition if all α_i
// are equal.
func UniformComposition(alphas ...float64) float64 {
	if constant, decided := degenerate(alphas); decided {
		return constant
	}
	top := 0.0
	for _, a := range alphas {
		top = max(top, a)
	}
	if top == 0 {
		return 0
	}
	m := float64(len(alphas))
	return min(1, proven(m/(m-1+1/top)))
}

// Relaxation returns the constant of the relaxation (1−λ)·id + λ·Φ of an
// α-averaged map Φ: λα, or +Inf unless 0 ≤ λ and λα ≤ 1. With α = 1 it makes any
// nonexpansive network λ-averaged; with λ > 1 it is over-relaxation.
func Relaxation(alpha, lambda float64) float64 {
	if !(alpha >= 0 && alpha <= 1 && lambda >= 0) {
		return math.Inf(1)
	}
	switch {
	case alpha == 0 || lambda == 0:
		return 0
	case alpha == 1 && lambda <= 1:
		return lambda // (1−λ)·id + λ·T is the definition
	case lambda == 1:
		return alpha
	}
	return proven(alpha * lambda)
}

// degenerate decides compositions of identities, of which one map is only nonexpansive,
// or with what is no constant at all.
func degenerate(alphas []float64) (constant float64, decided bool) {
	top := 0.0
	for _, a := range alphas {
		if !(a >= 0 && a <= 1) {
			return math.Inf(1), true
		}
		top = max(top, a)
	}
	return top, top == 0 || top == 1
}

// proven rounds a constant up by more than the few roundings that made it, and returns
// +Inf if it is then above 1.
func proven(alpha float64) float64 {
	alpha *= 1 + 8*unit
	if !(alpha <= 1) {
		return math.Inf(1)
	}
	return alpha
}
