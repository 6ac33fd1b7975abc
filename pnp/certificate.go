package pnp

import (
	"fmt"
	"math"
	"strings"
)

// Certificate is what is proven of one iteration operator T, computed from the
// proven constants of its parts.
type Certificate struct {
	// Denoiser is the averagedness θ of Φ, and whether it is proven.
	Denoiser       float64
	DenoiserProven bool
	// Norm is the proven bound of ‖K‖, and NormReason why it holds.
	Norm       float64
	NormReason string
	// Step is τ, and Gradient the averagedness β = τ‖K‖²/2 of x − τ∇E(x)
	// (Baillon and Haddad).
	Step, Gradient float64
	// Constraint is the set C.
	Constraint Constraint
	// Averagedness is the constant α of T, if Proven.
	Averagedness float64
	Proven       bool
}

// certify puts the constants of the parts together. It needs τ·‖K‖² < 2.
func certify(theta float64, thetaProven bool, norm float64, reason string, step float64, c Constraint) Certificate {
	cert := Certificate{
		Denoiser: theta, DenoiserProven: thetaProven,
		Norm: norm, NormReason: reason,
		Step: step, Gradient: step * norm * norm / 2,
		Constraint: c,
	}
	if !thetaProven || !(theta > 0 && theta <= 1) {
		return cert
	}
	cert.Proven = true
	cert.Averagedness = compose(theta, cert.Gradient)
	if c == UnitBox {
		// A projection is firmly nonexpansive: ½-averaged.
		cert.Averagedness = compose(0.5, cert.Averagedness)
	}
	return cert
}

// compose returns the averagedness of the composition of an a-averaged and a
// b-averaged map, (a + b − 2ab)/(1 − ab) (Combettes and Yamada 2015,
// Proposition 2.4, valid for a, b < 1). If one of them is only nonexpansive, so
// is the composition.
func compose(a, b float64) float64 {
	if a >= 1 || b >= 1 {
		return 1
	}
	return (a + b - 2*a*b) / (1 - a*b)
}

// FixedPointExists tells whether T is known to have a fixed point: with the box,
// it maps a compact convex set continuously into itself (Brouwer).
func (c Certificate) FixedPointExists() bool { return c.Proven && c.Constraint == UnitBox }

// Converges tells whether the iterates are proven to converge to a fixed point,
// if there is one: T must be averaged with a constant below 1 (Krasnoselskii,
// Mann).
func (c Certificate) Converges() bool { return c.Proven && c.Averagedness < 1 }

// ResidualBound returns the bound of the smallest residual ‖x − T(x)‖ among the
// first k+1 iterates,
//
//	√(α/((1−α)(k+1))) · (distance + errors),
//
// where distance bounds ‖x₀ − x*‖ for some fixed point x*, and errors bounds the
// sum of the errors made so far in computing T. (From ‖Tx − x*‖² ≤ ‖x − x*‖² −
// (1−α)/α·‖x − Tx‖², summed over the iterates.) Without errors the residuals
// never grow, so the bound then holds for the last one. Returns +Inf if nothing
// is proven.
func (c Certificate) ResidualBound(k int, distance, errors float64) float64 {
	if !c.Converges() {
		return math.Inf(1)
	}
	return math.Sqrt(c.Averagedness/(1-c.Averagedness)/float64(k+1)) * (distance + errors)
}

// String explains the certificate, a line for each constant with its theorem.
func (c Certificate) String() string {
	var b strings.Builder
	if c.DenoiserProven {
		fmt.Fprintf(&b, "denoiser       Φ is %.6g-averaged (proven)\n", c.Denoiser)
	} else {
		fmt.Fprintf(&b, "denoiser       no proof that Φ is nonexpansive\n")
	}
	fmt.Fprintf(&b, "operator       ‖K‖ ≤ %.9g: %s\n", c.Norm, c.NormReason)
	fmt.Fprintf(&b, "gradient step  τ = %.6g: x − τ∇E(x) is %.6g-averaged (Baillon–Haddad)\n", c.Step, c.Gradient)
	switch {
	case !c.Proven:
		b.WriteString("iteration      nothing is promised\n")
	case c.Averagedness < 1:
		fmt.Fprintf(&b, "iteration      T is %.6g-averaged (Combettes–Yamada 2015, Proposition 2.4)\n", c.Averagedness)
	default:
		b.WriteString("iteration      T is nonexpansive, not known to be averaged: convergence is not promised\n")
	}
	if c.Proven {
		if c.FixedPointExists() {
			b.WriteString("fixed point    exists: T maps the box [0,1]ⁿ continuously into itself (Brouwer)\n")
		} else {
			b.WriteString("fixed point    assumed to exist: without the box there is no proof\n")
		}
	}
	if c.Converges() {
		fmt.Fprintf(&b, "residual       min ‖x − T(x)‖ ≤ %.6g·(‖x₀ − x*‖ + errors)/√(k+1) after k steps (Krasnoselskii–Mann)\n",
			math.Sqrt(c.Averagedness/(1-c.Averagedness)))
	}
	return b.String()
}
