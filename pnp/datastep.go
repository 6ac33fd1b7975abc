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

// DataStep is the step towards the measurements that comes before the denoiser. The two kinds have different
// fixed points and need denoisers of different strength.
type DataStep uint8

const (
	// GradientStep is x − τ∇E(x), as in the paper, with τ < 2/‖K‖². The fixed points solve x = P_C(Φ(x −
	// τ∇E(x))). If Φ is the proximal map of τg and there is no box, they minimise E + g for every τ.
	GradientStep DataStep = iota
	// ProximalStep is the proximal map of τE,
	//
	//	argmin over v of ½‖v − x‖² + τ·½‖Kv − y‖² = x − τ(I + τKᵀK)⁻¹Kᵀ(Kx − y),
	//
	// for any τ > 0: half-quadratic splitting (Geman and Yang 1995). It is a gradient step on the Moreau
	// envelope of E. So with the proximal map of τg the fixed points minimise that envelope + g. A large τ
	// uses all that the measurements say at once, and a gradient step only the share |k̂|² of it. With a
	// denoiser for √τ times the noise level a few iterations are therefore enough.
	//
	// Conjugate gradients compute the step, with one product with K and Kᵀ for each of their iterations. They
	// start at the solution of the iteration before, and are preconditioned if the operator can
	// (operator.Preconditioned). They end when the residual bounds the error below a summable sequence. The
	// error counts among the errors of the iteration.
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

// DefaultProximalStep is the τ‖K‖² of ProximalStep if Options.Step is 0. It was chosen by deblurring
// photographs with noise of σ = 2.55/255 to 17.85/255, with a network for the noise level σ·√(τ‖K‖²)/2, which
// was about the best level in every case. The values 8, 16 and 32 differed by at most 0.2 dB. A larger value
// needs fewer iterations, but each takes longer; strong noise favours smaller values, weak noise larger ones.
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

// Apply returns the result of the data step at x for the measurements y; the caller frees it. Solve gives
// this to its denoiser first if it starts at x, after projecting x onto the box. Only Step and Peak of opt
// are used.
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
	it.arithmetic.data = it.tau*rounding + unit*(2*it.tau*step+size)*(1+1e-6) + it.arithmetic.tiny
	return errorBound, d.LinearCombination(it.moved, backend.Term{A: 1, X: it.x}, backend.Term{A: float32(-it.tau), X: along})
}
