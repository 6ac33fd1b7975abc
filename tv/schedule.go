package tv

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// steps are the step sizes of the accelerated primal-dual algorithm (Chambolle
// and Pock 2011, algorithm 2) for the ROF model, with
//
//	θ = 1/√(1 + 2γτ),  τ ← θτ,  σ = c/(8τ).
//
// The model is strongly convex with γ = 1; the theorem also covers every smaller
// γ, and γ = ½, under which τ falls half as fast, took two fifths of the
// iterations of γ = 1 to a relative gap of 1e-6 on photographs. The theorem has
// c = 1. For constant steps convergence is proven for every c < 4/3 (Banert,
// Upadhyaya and Giselsson 2023), and c = 4/3 saves a seventh of the iterations;
// above it the method diverges. Nothing rests on it: the gap of the result is
// computed, and the solver goes back to c = 1 should the gap ever grow.
type steps struct {
	tau, product          float64
	primal, extrapolation float64 // of the primal half that is still to be made
}

const (
	strongConvexity = 0.5
	gradientNormSq  = 8 // ‖∇‖² < 8
	longProduct     = 4. / 3
	safeProduct     = 1
)

// firstTau is τ at the first iteration, a pure number since the quadratic term
// has no scale.
const firstTau = 1

func newSteps() steps { return steps{tau: firstTau, product: longProduct} }

// resume sets τ for a start at a point with the given relative gap to about what
// τ would be where a start from zero had come to that gap. In sequences of similar
// problems this takes half the iterations of firstTau.
func (s *steps) resume(relativeGap float64) {
	s.tau = min(firstTau, 0.5*math.Pow(relativeGap, 0.3))
}

// next returns the next step for the device.
func (s *steps) next() backend.TVStep {
	step := backend.TVStep{
		Primal:        float32(s.primal),
		Extrapolation: float32(s.extrapolation),
		Dual:          float32(s.product / (gradientNormSq * s.tau)),
	}
	theta := 1 / math.Sqrt(1+2*strongConvexity*s.tau)
	s.primal = s.tau / (1 + s.tau)
	s.extrapolation = theta * s.tau
	s.tau *= theta
	return step
}

// finish returns the primal step that is still to be made, and takes it off the
// next step.
func (s *steps) finish() float32 {
	p := s.primal
	s.primal = 0
	return float32(p)
}

// gapClock says at which iterations to evaluate the gap. On photographs the gap
// falls as a power of the iteration, slowly at first and then about as its −3.5th,
// so that the iteration that reaches the target is foretold from the gaps seen,
// and two to four evaluations are enough.
type gapClock struct {
	target float64 // gap to reach
	it     int     // the last evaluation, and its gap
	gap    float64
}

const (
	firstEvaluation = 12
	firstPower      = 3.0 // foretells from the first evaluation
	laterPower      = 3.5
	// The next evaluation is a little later than foretold: a few iterations too
	// many cost less than one evaluation too many. But it is not too far away.
	overshoot = 1.02
	firstJump = 6
	laterJump = 2
)

// after records a gap and returns the iteration of the next evaluation.
func (c *gapClock) after(it int, gap float64) int {
	power, jump := float64(firstPower), firstJump
	if c.it > 0 {
		power, jump = laterPower, laterJump
		if gap < c.gap {
			power = max(power, math.Log(c.gap/gap)/math.Log(float64(it)/float64(c.it)))
		}
	}
	c.it, c.gap = it, gap
	n := overshoot * float64(it) * math.Pow(gap/c.target, 1/power)
	return int(min(max(n, float64(it)+1+float64(it)/50), float64(jump*it)))
}

// firstWarmEvaluation is the iteration of the first evaluation after the one at
// the start.
const firstWarmEvaluation = 8
