package train

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/denoise/rungekutta"
)

// Constraint is what keeps the blocks of an averaged network nonexpansive during training.
type Constraint string

const (
	// Adaptive is the paper's: a block of norm ‖A‖ takes N = ⌈h‖A‖²/(2r)⌉ steps, so the network deepens as
	// its weights grow. Weight decay limits their growth.
	Adaptive Constraint = "adaptive"
	// Budget learns V and θ with A = V·c/‖V‖ and c = Limit·sigmoid(θ), where
	// h·Limit² ≤ 2r: one step is enough.
	Budget Constraint = "budget"
	// Free is no constraint, for DnCNN.
	Free Constraint = "none"
)

// scaling is by what a block multiplies its weights V to have A, and what that depends
// on.
type scaling struct {
	constraint Constraint
	limit      float64 // of c
	initial    float64 // c/limit in the beginning
	gained     bool    // c is the limit: gains take the place of a smaller one
	length     float64 // h
	radius     float64 // r
}

// of returns the factor A/V, c, and the number N of steps for weights of norm ‖V‖.
func (s scaling) of(norm, theta float64) (factor, c float64, steps int, err error) {
	if s.constraint == Budget {
		if c = s.limit; !s.gained {
			c *= sigmoid(theta)
		}
		return c / norm, c, 1, nil
	}
	// Steps refuses only norms far beyond any use.
	if steps, err = rungekutta.Steps(s.length, norm, 1, s.radius); err != nil || steps > maxSteps {
		return 0, 0, 0, fmt.Errorf("%w: a block of norm %.4g takes more than %d steps", ErrDiverged, norm, maxSteps)
	}
	return 1, norm, steps, nil
}

// maxSteps of a block is far beyond what is of use; the paper's networks end with 26
// steps in all.
const maxSteps = 256

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logit is the inverse of sigmoid.
func logit(y float64) float64 { return math.Log(y / (1 - y)) }

// throughNorm turns the gradient with respect to A = V·c/‖V‖ into that with respect to V,
// in place, and returns that with respect to c. slope is ∂‖V‖/∂V, which is a gradient
// through one application to a vector that is taken as given (Miyato et al. 2018):
//
//	∂V = (c/‖V‖)·(∂A − ⟨∂A, V⟩/‖V‖ · ∂‖V‖/∂V),   ∂c = ⟨∂A, V⟩/‖V‖.
func throughNorm(gradient, v, slope []float32, c, norm float64) (dc float64) {
	for i, g := range gradient {
		dc += float64(g) * float64(v[i])
	}
	dc /= norm
	for i, g := range gradient {
		gradient[i] = float32(c / norm * (float64(g) - float64(dc*float64(slope[i]))))
	}
	return dc
}
