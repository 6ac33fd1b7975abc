package averaged

import "math"

// Firm is the constant of a firmly nonexpansive map: a projection onto a convex set, a
// proximal map, any resolvent of a monotone operator (Bauschke and Combettes 2017,
// propositions 4.16 and 12.28, corollary 23.9).
const Firm = 0.5

// Proximal returns the constant of the proximal map of step·E, where E is convex and its gradient
// norm²-Lipschitz, for example ½‖Kx − y‖² with ‖K‖ ≤ norm. It is α = t/(2(1 + t)) with t = step·norm², which
// is below Firm: the map is a gradient step of size step on the Moreau envelope of E, whose gradient has the
// constant norm²/(1 + t) (Bauschke and Combettes 2017, propositions 12.30 and 4.39). step and norm must be
// finite and at least 0.
func Proximal(step, norm float64) float64 {
	if !(step >= 0 && norm >= 0) || math.IsInf(step, 1) || math.IsInf(norm, 1) {
		return math.Inf(1)
	}
	t := step * norm * norm * (1 + 4*unit)
	if t < 0x1p-900 && step > 0 && norm > 0 {
		t = 0x1p-900 // what underflow may have taken is far less
	}
	return min(Firm, proven(t/(1+t)/2))
}

// Contraction returns the constant of a map with the Lipschitz constant q in [0, 1]: (1 + q)/2,
// or 1 for q = 1 (Bauschke and Combettes 2017, proposition 4.38).
func Contraction(q float64) float64 {
	if !(q >= 0 && q <= 1) {
		return math.Inf(1)
	}
	return min(1, proven((1+q)/2))
}

// Combination returns the constant of q·Φ + (1−q)·Ψ for an a-averaged Φ, a b-averaged Ψ and q in [0, 1]: q·a
// + (1−q)·b (Bauschke and Combettes 2017, proposition 4.42). Take b = Firm if Ψ is a constant map.
func Combination(q, a, b float64) float64 {
	if !(q >= 0 && q <= 1 && a >= 0 && a <= 1 && b >= 0 && b <= 1) {
		return math.Inf(1)
	}
	return min(1, proven(q*a+(1-q)*b))
}
