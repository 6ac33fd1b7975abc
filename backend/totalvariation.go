package backend

import (
	"fmt"
	"math"
)

// TVProblem is the proximal problem of total variation, the ROF model,
//
//	min over u of ½‖u − y‖² + α Σ ‖(∇u)‖,
//
// with the isotropic discrete gradient: (∇u)₁ = u[y+1,x] − u[y,x], zero in the last row; (∇u)₂ = u[y,x+1] −
// u[y,x], zero in the last column. The sum runs over pixels and, uncoupled, over channels; coupled, one
// Euclidean norm takes all channels and both directions of a pixel together.
//
// Its dual variable p has 2·C channels: channel 2c belongs to direction 1 (down) and 2c+1 to direction 2
// (right) of image channel c. At every pixel p lies in the ball of radius α, and it is zero where the
// gradient is zero by definition: direction 1 in the last row, direction 2 in the last column. p = 0 has both
// properties and is a valid start; TVIterate keeps them. The primal solution is u = y − ∇ᵀp at the dual
// solution p, and ‖∇‖² < 8.
type TVProblem struct {
	Alpha   float32 // α ≥ 0, finite, in the units of y
	Coupled bool
}

// Check returns an error that wraps ErrArgument unless Alpha is in its range.
func (p TVProblem) Check() error {
	if a := float64(p.Alpha); !(a >= 0) || math.IsInf(a, 1) {
		return fmt.Errorf("%w: total variation with α = %v", ErrArgument, p.Alpha)
	}
	return nil
}

// TVStep holds the steps of one iteration of the accelerated primal-dual
// algorithm (Chambolle and Pock 2011, algorithm 2) for the ROF model, written
// with the primal half first. With step sizes τₖ and σₖ, and θₖ = τₖ₊₁/τₖ,
// iteration k+1 of the algorithm has Primal = τₖ/(1+τₖ), Extrapolation = θₖ·τₖ
// and Dual = σₖ₊₁: since u is (u' + τₖ·r)/(1+τₖ) for the previous u', its change
// u − u' is τₖ·(r − u), and no second copy of u is needed to extrapolate.
type TVStep struct {
	Primal        float32 // in [0, 1]; 0 leaves u as it is, 1 sets u = y − ∇ᵀp
	Extrapolation float32 // at least 0, finite
	Dual          float32 // at least 0, finite
}

// Check returns an error that wraps ErrArgument unless the steps are in their ranges.
func (s TVStep) Check() error {
	if !(s.Primal >= 0 && s.Primal <= 1) || !(s.Extrapolation >= 0) || !(s.Dual >= 0) ||
		math.IsInf(float64(s.Extrapolation), 1) || math.IsInf(float64(s.Dual), 1) {
		return fmt.Errorf("%w: total variation step %v, %v, %v", ErrArgument, s.Primal, s.Extrapolation, s.Dual)
	}
	return nil
}

// TVValue holds the terms of the duality gap at a pair (u, p). Every term is computed and summed in float64,
// in an order that depends on the shape only. It passes through at most as many additions as the image has
// rows and columns, plus 64.
type TVValue struct {
	Fidelity  float64 // ½‖u − y‖²
	Variation float64 // α Σ ‖∇u‖
	Residual  float64 // ½‖u − (y − ∇ᵀp)‖²
	// Product is ⟨∇u, p⟩. A p that rounding has moved outside its ball is first scaled back to the surface,
	// so that Variation − Product is not negative.
	Product float64
}

// Primal returns the primal objective at u.
func (v TVValue) Primal() float64 { return v.Fidelity + v.Variation }

// Gap returns the primal objective at u minus the dual objective at p, written
// as a sum of two terms that are not negative:
//
//	½‖u − (y − ∇ᵀp)‖² + (α Σ‖∇u‖ − ⟨∇u, p⟩).
//
// By strong convexity ½‖u − u*‖² ≤ Gap for the solution u*.
func (v TVValue) Gap() float64 { return v.Residual + max(0, v.Variation-v.Product) }

// Dual returns the dual objective ½‖y‖² − ½‖y − ∇ᵀp‖².
func (v TVValue) Dual() float64 { return v.Primal() - v.Gap() }

// TotalVariation is the part of the ROF model that has to run on the device. All buffers have N = 1 and share
// no memory; y and u have C channels, p has 2·C of the same size. Only TVEvaluate waits for the device.
type TotalVariation interface {
	// TVIterate makes one fused step from (u, p):
	//
	//	r = y − ∇ᵀp
	//	u ← u + Primal·(r − u)
	//	ū = u + Extrapolation·(r − u)
	//	p ← projection of p + Dual·∇ū onto the balls of radius α.
	//
	// One TVPrimal more gives the u of the new p.
	TVIterate(u, p, y Buffer, problem TVProblem, step TVStep) error
	// TVPrimal makes only the primal half of a step, u ← u + step·(r − u) with r = y − ∇ᵀp and step in [0,
	// 1]. With step = 1 the old u is not read.
	TVPrimal(u, p, y Buffer, step float32) error
	// TVEvaluate waits and returns the terms of the duality gap at (u, p).
	TVEvaluate(u, p, y Buffer, problem TVProblem) (TVValue, error)
}
