package pnp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// DataStep says how an iteration draws its point towards the measurements before the
// denoiser is applied. The two differ in their fixed points, and in how strong a denoiser
// they want.
type DataStep uint8

const (
	// GradientStep is x − τ∇E(x), the paper's, with τ < 2/‖K‖². The fixed points are
	// those of x = P_C(Φ(x − τ∇E(x))); with the proximal map Φ of τg, and without the box,
	// they minimise E + g whatever τ is.
	GradientStep DataStep = iota
	// ProximalStep is the proximal map of τE,
	//
	//	argmin over v of ½‖v − x‖² + τ·½‖Kv − y‖² = x − τ(I + τKᵀK)⁻¹Kᵀ(Kx − y),
	//
	// for any τ > 0: half-quadratic splitting (Geman and Yang 1995). It is a gradient step
	// on the Moreau envelope of E, so with the proximal map of τg the fixed points minimise
	// that envelope + g. A large τ takes from the measurements at once what they tell, a
	// gradient step only as much as |k̂|² of it: with a denoiser that is as much stronger
	// (√τ times the noise level) few iterations are enough.
	//
	// It is computed by conjugate gradients, one product with K and Kᵀ each, from the
	// solution of the iteration before, and preconditioned where the operator knows how
	// (operator.Preconditioned). They end when the error, which is bounded by the
	// residual, is below a summable bound, and count as errors of the iteration.
	ProximalStep
)

// String returns "gradient" or "proximal".
func (s DataStep) String() string {
	switch s {
	case GradientStep:
		return "gradient"
	case ProximalStep:
		return "proximal"
	}
	return fmt.Sprintf("DataStep(%d)", uint8(s))
}

// DefaultProximalStep is τ‖K‖² of ProximalStep where Options.Step is 0. When photographs
// with noise of σ = 2.55/255 to 17.85/255 were deblurred with a network for the noise level
// σ·√(τ‖K‖²)/2, which was about the best one in every case, 8, 16 and 32 differed by 0.2 dB at
// most. The larger it is the fewer iterations are needed, and the longer each of them takes;
// strong noise prefers the smaller values, weak noise the larger ones.
const DefaultProximalStep = 16

// dataShare is the error of ProximalStep by the residual of the step before: small, so
// that an acceleration does not take it for a property of T. With 0.25 more iterations
// are needed, with 0.05 and less hardly fewer.
const dataShare = 0.1

// averagedness returns that of the data step with step τ, for ‖K‖ ≤ norm.
func (s DataStep) averagedness(tau, norm float64) float64 {
	if s == ProximalStep {
		return averaged.Proximal(tau, norm)
	}
	return averaged.EulerStep(tau, norm, 1)
}

// choose returns τ, which is what the device multiplies by, or an error.
func (s DataStep) choose(step, norm float64) (float64, error) {
	square := norm * norm
	tau := step
	switch {
	case s > ProximalStep:
		return 0, fmt.Errorf("pnp: data step %d, want GradientStep or ProximalStep", s)
	case step == 0 && s == ProximalStep:
		tau = DefaultProximalStep / square
	case step == 0:
		tau = 1 / square
	}
	tau = float64(float32(tau))
	if !(tau > 0) || math.IsInf(tau, 1) {
		return 0, fmt.Errorf("pnp: step τ = %v, want a finite number above 0; of GradientStep below 2/‖K‖² = %.6g", step, 2/square)
	}
	if s == GradientStep && s.averagedness(tau, norm) >= 1 {
		return 0, fmt.Errorf("pnp: step τ = %v is outside (0, 2/‖K‖²) = (0, %.6g): the gradient step would not be averaged", step, 2/square)
	}
	return tau, nil
}

// Apply returns what the data step makes of x for the measurements y, which the caller frees: what
// Solve gives to its denoiser first where it starts at x, x projected onto the box first. Of opt only Step
// and Peak count.
func (s DataStep) Apply(ctx context.Context, dev backend.Device, y backend.Buffer, k operator.Linear, x backend.Buffer, opt Options) (backend.Buffer, error) {
	if x == nil {
		return nil, fmt.Errorf("pnp: %w: a data step needs an image", backend.ErrArgument)
	}
	it, err := newIteration(dev, y, k, nothing{}, Options{DataStep: s, Step: opt.Step, Peak: opt.Peak, Start: x})
	if err != nil {
		return nil, err
	}
	defer it.free()
	if _, err := it.approach(ctx); err != nil {
		return nil, err
	}
	return it.give(&it.moved), nil
}

// nothing stands for the denoiser of an iteration that has none.
type nothing struct{}

func (nothing) Apply(context.Context, backend.Buffer, backend.Buffer) error {
	return errors.New("pnp: there is no denoiser")
}
func (nothing) Averagedness() (alpha float64, proven bool) { return 1, false }

// approach sets it.moved to the data step of it.x, and returns a bound of its error.
func (it *iteration) approach(ctx context.Context) (errorBound float64, err error) {
	d := it.dev
	// What the data step alone needs is given back before the denoiser asks for memory.
	if it.misfit, err = d.Alloc(it.y.Shape()); err != nil {
		return 0, err
	}
	defer func() {
		it.misfit.Free()
		it.misfit = nil
	}()
	// misfit = Kv − y; moved = Kᵀ·misfit = ∇E(v), at v = x, or x − τw where the resolvent begins with w.
	at, reductions := it.x, []backend.Reduction{{Kind: backend.SumSquares, X: it.misfit}, {Kind: backend.SumSquares, X: it.x}}
	if it.resolvent != nil && it.resolvent.begun {
		at, reductions = it.moved, append(reductions, backend.Reduction{Kind: backend.SumSquares, X: it.resolvent.w})
		if err := d.LinearCombination(at, backend.Term{A: 1, X: it.x}, backend.Term{A: float32(-it.tau), X: it.resolvent.w}); err != nil {
			return 0, err
		}
	}
	if err := it.k.Apply(it.misfit, at); err != nil {
		return 0, err
	}
	if err := d.LinearCombination(it.misfit, backend.Term{A: 1, X: it.misfit}, backend.Term{A: -1, X: it.y}); err != nil {
		return 0, err
	}
	var size, misfit, begun, rounding float64
	if it.arithmetic.known() {
		var sums [3]float64
		if err := d.Reduce(sums[:len(reductions)], reductions...); err != nil {
			return 0, err
		}
		misfit, size, begun = math.Sqrt(sums[0]), math.Sqrt(sums[1]), math.Sqrt(sums[2])
		rounding = it.arithmetic.gradient(size+it.tau*begun*(1+1e-6), misfit)
	}
	if err := ctx.Err(); err != nil { // a blur of a large image takes its time
		return 0, err
	}
	if err := it.k.Adjoint(it.moved, it.misfit); err != nil {
		return 0, err
	}
	along, step := it.moved, it.arithmetic.norm*misfit
	if it.resolvent != nil {
		w, residual, err := it.resolvent.solve(ctx, it.allowed(dataShare)/it.tau, size, begun)
		if err != nil {
			return 0, err
		}
		along, errorBound = w, it.tau*residual
		step = it.resolvent.size
		rounding += it.resolvent.drift
	}
	it.arithmetic.data = it.tau*rounding + unit*(2*it.tau*step+size)*(1+1e-6)
	return errorBound, d.LinearCombination(it.moved, backend.Term{A: 1, X: it.x}, backend.Term{A: float32(-it.tau), X: along})
}
