package pnp

import (
	"fmt"
	"math"
	"strings"

	"github.com/averaged/imaging/averaged"
)

// Certificate holds what is proven of one iteration operator T, computed from the proven constants of its
// parts.
type Certificate struct {
	// Denoiser is the averagedness θ of Φ, and whether it is proven.
	Denoiser       float64
	DenoiserProven bool
	// Norm is the proven bound of ‖K‖, and NormReason says why it holds.
	Norm       float64
	NormReason string
	// DataStep and Step (τ) are the data step and its size, and Gradient is the averagedness of that map
	// (averaged.EulerStep, averaged.Proximal).
	DataStep       DataStep
	Step, Gradient float64
	// Constraint is the set C, and Peak the upper end of the box; 0 means 1.
	Constraint Constraint
	Peak       float64
	// Acceleration is how the next point follows from T(x).
	Acceleration Acceleration
	// Averagedness is the constant α of T, if Proven.
	Averagedness float64
	Proven       bool
	// Contraction is a Lipschitz constant of T. It is at most 1 if Proven. It is below 1 only if Φ is a
	// ContractiveDenoiser or Pull is not 0.
	Contraction float64
	// Pull is Options.Contraction q: T is (1−q)·x₀ + q·P_C(Φ(data step)); 0 leaves this out.
	Pull float64
}

// parts is what an iteration is made of.
type parts struct {
	denoiser     Denoiser
	norm         float64
	reason       string
	data         DataStep
	step         float64
	constraint   Constraint
	peak         float64
	acceleration Acceleration
	contraction  float64 // Options.Contraction
}

// certify puts the constants of the parts together. Of GradientStep it needs τ·‖K‖² < 2.
func certify(p parts) Certificate {
	theta, proven := p.denoiser.Averagedness()
	cert := Certificate{
		Denoiser: theta, DenoiserProven: proven,
		Norm: p.norm, NormReason: p.reason,
		DataStep: p.data, Step: p.step, Gradient: p.data.averagedness(p.step, p.norm),
		Constraint: p.constraint, Peak: p.peak, Acceleration: p.acceleration, Contraction: math.Inf(1), Pull: p.contraction,
	}
	if !proven || !(theta > 0 && theta <= 1) {
		return cert
	}
	cert.Contraction = 1
	if c, ok := p.denoiser.(ContractiveDenoiser); ok {
		// The other maps are nonexpansive.
		if q, proven := c.Contraction(); proven && q >= 0 && q < 1 {
			cert.Contraction = q
			theta = math.Min(theta, averaged.Contraction(q))
		}
	}
	maps := []float64{theta, cert.Gradient}
	if p.constraint == UnitBox {
		maps = append(maps, averaged.Firm)
	}
	alpha := averaged.Composition(maps...)
	if q := p.contraction; q > 0 { // with a constant map
		if cert.Contraction *= q; cert.Contraction < q {
			cert.Contraction = math.Nextafter(cert.Contraction, 1)
		}
		alpha = averaged.Combination(float64(onDevice(q)), alpha, averaged.Firm)
	}
	if alpha <= 1 {
		cert.Averagedness, cert.Proven = alpha, true
	} else {
		cert.Contraction = math.Inf(1)
	}
	return cert
}

// FixedPointExists tells whether T is known to have a fixed point. With the box it has one, because T maps a
// compact convex set continuously into itself (Brouwer). As a contraction it has exactly one (Banach).
func (c Certificate) FixedPointExists() bool {
	return c.Proven && (c.Constraint == UnitBox || c.Contraction < 1)
}

// Converges tells whether the iterates are proven to converge to a fixed point, if there is one. Either T
// must be averaged with a constant below 1 (Krasnoselskii, Mann; with errors, Combettes), or the iteration
// must be Halpern's.
func (c Certificate) Converges() bool {
	return c.Proven && (c.Averagedness < 1 || c.Acceleration == Halpern)
}

// ResidualBound returns the bound of the smallest residual ‖x − T(x)‖ among the first k+1 iterates,
//
//	√(α/((1−α)(k+1))) · (distance + errors).
//
// distance bounds ‖x₀ − x*‖ for some fixed point x*. errors bounds the sum of the errors made so far in
// computing T, including what an acceleration adds to T(x). (From ‖Tx − x*‖² ≤ ‖x − x*‖² − (1−α)/α·‖x − Tx‖²,
// summed over the iterates.) Without errors the residuals never grow, so the bound then holds for the last
// one.
//
// With Halpern's iteration it is 2·distance/(k+1) + 2·errors, a bound for iterate k itself (Lieder 2021).
// There errors bounds the distance to the run without errors.
//
// It returns +Inf if nothing is proven.
func (c Certificate) ResidualBound(k int, distance, errors float64) float64 {
	switch {
	case !c.Converges():
		return math.Inf(1)
	case c.Acceleration == Halpern:
		return averaged.HalpernBound(k, distance) + 2*errors
	}
	return averaged.ResidualBound(c.Averagedness, k, distance+errors)
}

// errorBar bounds the distance of T(x), as computed with an error, to the fixed point of a
// contraction, given the residual.
func (c Certificate) errorBar(residual, err float64) float64 {
	if !c.Proven {
		return math.Inf(1)
	}
	return averaged.FixedPointBound(c.Contraction, residual+err) + err
}

// String explains the certificate: one line for each constant, with its theorem.
func (c Certificate) String() string {
	var b strings.Builder
	if c.DenoiserProven {
		fmt.Fprintf(&b, "denoiser       Φ is %.6g-averaged (proven)\n", c.Denoiser)
	} else {
		fmt.Fprintf(&b, "denoiser       no proof that Φ is nonexpansive\n")
	}
	fmt.Fprintf(&b, "operator       ‖K‖ ≤ %.9g: %s\n", c.Norm, c.NormReason)
	if c.DataStep == ProximalStep {
		fmt.Fprintf(&b, "data step      τ = %.6g: the proximal map of τE is %.6g-averaged (Moreau; Baillon–Haddad for its envelope)\n", c.Step, c.Gradient)
	} else {
		fmt.Fprintf(&b, "gradient step  τ = %.6g: x − τ∇E(x) is %.6g-averaged (Baillon–Haddad)\n", c.Step, c.Gradient)
	}
	switch {
	case !c.Proven:
		b.WriteString("iteration      nothing is promised\n")
	case c.Averagedness < 1:
		fmt.Fprintf(&b, "iteration      T is %.6g-averaged (Combettes–Yamada 2015, Proposition 2.5)\n", c.Averagedness)
	case c.Converges():
		b.WriteString("iteration      T is nonexpansive, which is enough for Halpern's iteration to converge (Wittmann 1992)\n")
	default:
		b.WriteString("iteration      T is nonexpansive, not known to be averaged: convergence is not promised\n")
	}
	if c.Pull > 0 {
		fmt.Fprintf(&b, "contraction    T is (1−q)·x₀ + q·(the iteration without it), q = %.6g (Browder 1967)\n", c.Pull)
	}
	if c.Proven {
		switch {
		case c.Contraction < 1:
			fmt.Fprintf(&b, "fixed point    exists, and is unique: T is a contraction with the constant %.6g (Banach)\n", c.Contraction)
		case c.FixedPointExists():
			fmt.Fprintf(&b, "fixed point    exists: T maps the box [0,%g]ⁿ continuously into itself (Brouwer)\n", peakOf(c.Peak))
		default:
			b.WriteString("fixed point    assumed to exist: without the box there is no proof\n")
		}
	}
	switch {
	case !c.Converges():
	case c.Acceleration == Halpern:
		b.WriteString("residual       ‖x − T(x)‖ ≤ 2·‖x₀ − x*‖/(k+1) + 2·errors after k steps (Lieder 2021)\n")
	default:
		if c.Acceleration == Anderson {
			b.WriteString("acceleration   Anderson's, safeguarded: what it adds to T(x) is summable, and counted in the errors (Combettes 2004)\n")
		}
		fmt.Fprintf(&b, "residual       min ‖x − T(x)‖ ≤ %.6g·(‖x₀ − x*‖ + errors)/√(k+1) after k steps (Krasnoselskii–Mann)\n",
			averaged.ResidualBound(c.Averagedness, 0, 1))
	}
	return b.String()
}
