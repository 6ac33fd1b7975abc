package rungekutta

import (
	"fmt"
	"math"
	"math/big"
)

// MaxSteps is the largest number of steps that Steps returns.
const MaxSteps = 1 << 20

// Steps returns the number N = ⌈h·norm²·L/(2r)⌉, at least 1, of steps of size h/N into
// which a block divides h so that it is nonexpansive (the paper, section 3.1): h > 0 is the time
// that the block integrates over, norm an upper bound of ‖A‖ (normbound.Bound.Upper), L ≥ 0
// the Lipschitz constant of the activation, and r the method's radius, which may be
// +Inf. N is computed without rounding. A block that would need more than
// MaxSteps steps is an error.
func Steps(h, norm, L, r float64) (int, error) {
	switch {
	case !(h > 0) || math.IsInf(h, 1):
		return 0, fmt.Errorf("step size %v of a block, must be finite and above 0", h)
	case !(norm >= 0) || math.IsInf(norm, 1):
		return 0, fmt.Errorf("norm %v of a block's convolution, must be finite and 0 or more", norm)
	case !(L >= 0) || math.IsInf(L, 1):
		return 0, fmt.Errorf("activation with the Lipschitz constant %v, must be finite and 0 or more", L)
	case !(r > 0):
		return 0, fmt.Errorf("radius %v of a Runge-Kutta method, must be above 0", r)
	}
	if math.IsInf(r, 1) {
		return 1, nil
	}
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	x := new(big.Rat).Mul(exact(norm), exact(norm))
	x.Mul(x, exact(h)).Mul(x, exact(L))
	x.Quo(x, exact(r)).Mul(x, big.NewRat(1, 2))
	// ⌈p/q⌉ = ⌊(p + q − 1)/q⌋
	n := new(big.Int).Add(x.Num(), x.Denom())
	n.Sub(n, big.NewInt(1)).Quo(n, x.Denom())
	if n.Cmp(big.NewInt(MaxSteps)) > 0 {
		return 0, fmt.Errorf("a block of norm %v and step size %v takes more than %d steps", norm, h, MaxSteps)
	}
	return max(1, int(n.Int64())), nil
}

// StepSize returns h/n rounded toward 0 to float32, the type in which devices compute,
// so that the step that is taken is no larger than the one that is proven. h must be
// finite and 0 or more, n at least 1; a result beyond float32's range is its largest
// number.
func StepSize(h float64, n int) float32 {
	limit := new(big.Rat).SetFloat64(h)
	if limit == nil || limit.Sign() <= 0 || n < 1 {
		return 0
	}
	limit.Quo(limit, new(big.Rat).SetInt64(int64(n)))
	step, _ := limit.Float32()
	if math.IsInf(float64(step), 1) {
		return math.MaxFloat32
	}
	if new(big.Rat).SetFloat64(float64(step)).Cmp(limit) > 0 {
		step = math.Nextafter32(step, 0)
	}
	return step
}
