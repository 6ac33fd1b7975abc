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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
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
	if err := it.recall(); err != nil {
		return 0, err
	}
	allowed, data := it.allowed(dataShare)/math.Sqrt(float64(len(it.parts))), 0.0
	for c, k := range it.parts {
		e, rounding, err := it.approachPart(ctx, c, k, allowed)
		if err != nil {
			return 0, err
		}
		errorBound, data = math.Hypot(errorBound, e), math.Hypot(data, rounding)
	}
	it.arithmetic.data = data
	if it.resolvent != nil {
		it.resolvent.begun, it.resolvent.taken = true, true
	}
	return errorBound, nil
}

// approachPart is approach for the part of channel c.
func (it *iteration) approachPart(ctx context.Context, c int, k operator.Linear, allowed float64) (errorBound, rounding float64, err error) {
	p, err := it.newPart(c, k)
	if err != nil {
		return 0, 0, err
	}
	defer p.free()
	return p.approach(ctx, allowed)
}

// ByChannel tells whether the data step works on one channel of an image of that shape after the other: its own images are
// then a third as large. Large images alone gain from that.
func ByChannel(s backend.Shape) bool {
	return s.C >= roomsOfPart && AutomaticMemory(s.Len()) < DefaultMemory
}

// divide sets the operators that the data step works with: one for all channels, or one for each if they can be told apart.
func (it *iteration) divide(separate bool) error {
	it.parts = []operator.Linear{it.k}
	of, can := it.k.(operator.ByChannel)
	if !separate || !can {
		return nil
	}
	it.parts = nil
	for c := range it.x.Shape().C {
		k, err := of.Channel(c)
		if err != nil {
			return err
		}
		it.parts = append(it.parts, k)
	}
	return nil
}

// roomsOfPart is how many images the resolvent takes beside its solution.
const roomsOfPart = 3

// part is the data step of all channels, or of one.
type part struct {
	it          *iteration
	k           operator.Linear
	x, y, moved backend.Buffer
	misfit      backend.Buffer
	rooms       [roomsOfPart]backend.Buffer // of the resolvent
	own         []backend.Buffer            // to free

	size, drift float64 // what solve found
}

// newPart returns that of channel c, or of all if there is one part only. What it allocates is given back before the denoiser asks for
// memory. The rooms of a channel are channels of it.next.
func (it *iteration) newPart(c int, k operator.Linear) (_ *part, err error) {
	p := &part{it: it, k: k, x: it.x, y: it.y, moved: it.moved}
	keep := func(b backend.Buffer, e error) backend.Buffer {
		if e == nil {
			p.own = append(p.own, b)
		} else if err == nil {
			err = e
		}
		return b
	}
	defer func() {
		if err != nil {
			p.free()
		}
	}()
	measured := it.y.Shape()
	if len(it.parts) > 1 {
		view := func(b backend.Buffer, c int) backend.Buffer { return keep(it.dev.Channels(b, c, 1)) }
		p.x, p.y, p.moved = view(it.x, c), view(it.y, c), view(it.moved, c)
		for i := range p.rooms {
			p.rooms[i] = view(it.next, i)
		}
		measured.C = 1
	} else if it.resolvent != nil {
		p.rooms = [...]backend.Buffer{keep(it.dev.Alloc(it.x.Shape())), it.next, keep(it.dev.Alloc(it.x.Shape()))}
	}
	p.misfit = keep(it.dev.Alloc(measured))
	return p, err
}

func (p *part) free() {
	for _, b := range p.own {
		b.Free()
	}
}

// approach sets p.moved to the data step of p.x, and returns a bound of its error, and one of what rounding adds.
func (p *part) approach(ctx context.Context, allowed float64) (errorBound, data float64, err error) {
	it := p.it
	d, r, a := it.dev, it.resolvent, &it.arithmetic
	// misfit = Kv − y; gradient = Kᵀ·misfit = ∇E(v), at v = x, or x − τw where the resolvent begins with w.
	at, gradient := p.x, p.moved
	reductions := []backend.Reduction{{Kind: backend.SumSquares, X: p.misfit}, {Kind: backend.SumSquares, X: p.x}}
	if r != nil {
		gradient = p.rooms[0]
		if r.begun {
			at, reductions = gradient, append(reductions, backend.Reduction{Kind: backend.SumSquares, X: p.moved})
			if err := d.LinearCombination(at, backend.Term{A: 1, X: p.x}, backend.Term{A: -1, X: p.moved}); err != nil {
				return 0, 0, err
			}
		}
	}
	if err := p.k.Apply(p.misfit, at); err != nil {
		return 0, 0, err
	}
	if err := d.LinearCombination(p.misfit, backend.Term{A: 1, X: p.misfit}, backend.Term{A: -1, X: p.y}); err != nil {
		return 0, 0, err
	}
	var size, misfit, begun, rounding float64
	if a.known() {
		var sums [3]float64
		if err := d.Reduce(sums[:len(reductions)], reductions...); err != nil {
			return 0, 0, err
		}
		misfit, size, begun = math.Sqrt(sums[0]), math.Sqrt(sums[1]), math.Sqrt(sums[2])/it.tau
		rounding = a.gradient(size+it.tau*begun*(1+1e-6), misfit)
	}
	if err := ctx.Err(); err != nil { // a blur of a large image takes its time
		return 0, 0, err
	}
	if err := p.k.Adjoint(gradient, p.misfit); err != nil {
		return 0, 0, err
	}
	scale, step := -it.tau, a.norm*misfit
	if r != nil {
		residual, err := p.solve(ctx, allowed/it.tau, size, begun)
		if err != nil {
			return 0, 0, err
		}
		errorBound = it.tau * residual
		scale, step = -1, p.size
		rounding += p.drift
	}
	data = it.tau*rounding + unit*(2*it.tau*step+size)*(1+1e-6) + a.tiny
	return errorBound, data, d.LinearCombination(p.moved, backend.Term{A: 1, X: p.x}, backend.Term{A: float32(scale), X: p.moved})
}
