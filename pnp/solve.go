package pnp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Constraint is the convex set C that the iterates are projected onto.
type Constraint uint8

const (
	// UnitBox is [0,1]ⁿ, the range of an image; T then surely has a fixed point.
	UnitBox Constraint = iota
	// Unconstrained is the whole space.
	Unconstrained
)

// Acceleration says how an iteration goes on from T(x). No choice changes the
// fixed points, and every choice keeps the proof of convergence.
type Acceleration uint8

const (
	// Plain goes on from T(x): x_{k+1} = T(x_k).
	Plain Acceleration = iota
	// Momentum goes on from T(x_k) + m·(T(x_k) − T(x_{k−1})) with the weights m of
	// Nesterov (Beck and Teboulle 2009), starts them anew where they point back
	// (O'Donoghue and Candès 2015) or the residual grows, and shortens a move that is longer than
	// 100·r₀/k^1.1, r₀ the first residual. Seen as errors in computing T,
	// the moves are summable, so that the iterates converge as they do without
	// (Combettes 2004), whatever the denoiser; they are counted in the report's
	// Errors. Only where the denoiser is a proximal map are they known to be a
	// gain.
	Momentum
)

// The defaults of Options.
const (
	DefaultTolerance     = 1e-4
	DefaultMaxIterations = 1000
	DefaultInnerError    = 0.01
)

// Options of Solve. The zero value is useful.
type Options struct {
	// Step is τ; 0 means 1/‖K‖², the paper's. It must be below 2/‖K‖².
	Step float64
	// Constraint is the set C; the default is the box.
	Constraint Constraint
	// Start is the initial estimate x₀, of the operator's domain; nil means Kᵀy.
	// It is copied (and projected onto C).
	Start backend.Buffer
	// Tolerance ends the iteration when ‖x_{k+1} − x_k‖ + ε_k ≤
	// Tolerance·‖x_{k+1}‖, where ε_k bounds the inner error of the step, so that
	// ‖x_k − T(x_k)‖ surely is below it. 0 means DefaultTolerance, a negative
	// number never.
	Tolerance float64
	// MaxIterations ends the iteration in any case; 0 means
	// DefaultMaxIterations.
	MaxIterations int
	// InnerError is the error ε₀, relative to ‖x₀‖, that an InexactDenoiser may
	// make in the first iteration; in iteration k it may make ε₀/(k+1)^1.1, so
	// that the sum of all errors is finite and convergence is kept (Combettes
	// 2004, inexact Krasnoselskii–Mann), and at most half of the residual before,
	// so that an error is not taken for a step. 0 means DefaultInnerError.
	InnerError float64
	// Acceleration chooses how the next point is made from T(x); the default is
	// Plain.
	Acceleration Acceleration
	// Progress is called after every iteration; an error stops the run and comes
	// back from Solve.
	Progress func(Progress) error
}

// Progress is the state of a run after an iteration.
type Progress struct {
	Iteration     int     // 1 after the first
	MaxIterations int     // where the run ends at the latest
	Residual      float64 // (‖x_{k+1} − x_k‖ + ε_k)/‖x_{k+1}‖
	Tolerance     float64 // where the run ends
}

// Report of a run.
type Report struct {
	Iterations int
	Converged  bool // the tolerance was reached
	// Residuals holds ‖x_{k+1} − x_k‖ for every iteration k from 0.
	Residuals []float64
	// Relative is the last residual, with the inner error of its step added, over
	// ‖x_{k+1}‖.
	Relative float64
	// Errors bounds the sum of the errors in computing T so far: the inner errors
	// of an InexactDenoiser, and the moves of an acceleration.
	Errors []float64
	// Distance bounds ‖x₀ − x*‖ for every fixed point x*, known before the run
	// when C is the box; +Inf otherwise.
	Distance float64
	// Certificate says what is proven of the run.
	Certificate Certificate
}

// Bound returns the proven bound of the smallest residual ‖x − T(x)‖ among the
// iterates 0…k, in the units of Residuals; +Inf where nothing is proven.
func (r Report) Bound(k int) float64 {
	if k < 0 || k >= len(r.Errors) {
		return math.Inf(1)
	}
	return r.Certificate.ResidualBound(k, r.Distance, r.Errors[k])
}

// Solve runs the plug-and-play proximal gradient iteration for the measurements
// y, of the operator's range with any number of channels, and returns the last
// iterate, which the caller frees. When the context ends, or Progress returns an
// error, it returns that error and no iterate.
//
// A step τ ≥ 2/‖K‖² is refused: T would not be averaged.
func Solve(ctx context.Context, dev backend.Device, y backend.Buffer, k Operator, phi Denoiser, opt Options) (backend.Buffer, Report, error) {
	it, err := newIteration(dev, y, k, phi, opt)
	if err != nil {
		return nil, Report{}, err
	}
	defer it.free()
	report := Report{Certificate: it.certificate, Distance: it.distance}
	limit := opt.MaxIterations
	if limit == 0 {
		limit = DefaultMaxIterations
	}
	tolerance := opt.Tolerance
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	for n := range limit {
		residual, size, err := it.step(ctx)
		if err != nil {
			return nil, Report{}, err
		}
		report.Iterations = n + 1
		report.Residuals = append(report.Residuals, residual)
		report.Errors = append(report.Errors, it.errors)
		report.Relative = relative(residual+it.lastError, size)
		report.Converged = report.Relative <= tolerance
		if opt.Progress != nil {
			err := opt.Progress(Progress{Iteration: n + 1, MaxIterations: limit, Residual: report.Relative, Tolerance: tolerance})
			if err != nil {
				return nil, Report{}, err
			}
		}
		if report.Converged || n+1 == limit {
			break
		}
		if err := it.advance(); err != nil {
			return nil, Report{}, err
		}
	}
	// The residual of T(x) is at most that of x, for T is nonexpansive.
	x := it.next
	it.next = nil // the caller's now
	return x, report, nil
}

// relative returns residual/size, and 0 for 0/0: an iteration that stays at the
// zero image has converged.
func relative(residual, size float64) float64 {
	if residual == 0 {
		return 0
	}
	return residual / size
}

// iteration is T with its state on the device.
type iteration struct {
	dev   backend.Device
	y     backend.Buffer
	k     Operator
	phi   Denoiser
	tau   float64
	set   Constraint
	inner float64 // ε₀, absolute

	// x is where T is applied next, and T(x) goes to next. With momentum, last is
	// T of the point before.
	x, next, gradient, misfit, last backend.Buffer
	momentum                        momentum

	n           int     // steps made
	errors      float64 // sum of the bounds of the inner errors and of the moves
	lastError   float64 // the last of them
	residual    float64 // of the last step, 0 before the first
	distance    float64
	certificate Certificate
}

func newIteration(dev backend.Device, y backend.Buffer, k Operator, phi Denoiser, opt Options) (_ *iteration, err error) {
	norm, reason := k.Norm()
	if !(norm > 0) || math.IsInf(norm, 0) {
		return nil, fmt.Errorf("pnp: the operator's norm bound %v gives no step size", norm)
	}
	it := &iteration{dev: dev, y: y, k: k, phi: phi, tau: opt.Step, set: opt.Constraint}
	if it.tau == 0 {
		it.tau = 1 / (norm * norm)
	}
	it.tau = float64(float32(it.tau)) // what the device multiplies by
	if !(it.tau > 0) || it.tau*norm*norm >= 2 {
		return nil, fmt.Errorf("pnp: step τ = %v is outside (0, 2/‖K‖²) = (0, %.6g): the gradient step would not be averaged", opt.Step, 2/(norm*norm))
	}
	if opt.MaxIterations < 0 || math.IsNaN(opt.Tolerance) || math.IsNaN(opt.InnerError) || opt.InnerError < 0 ||
		opt.Constraint > Unconstrained || opt.Acceleration > Momentum {
		return nil, fmt.Errorf("pnp: options out of range: %d iterations, tolerance %v, inner error %v, constraint %d, acceleration %d",
			opt.MaxIterations, opt.Tolerance, opt.InnerError, opt.Constraint, opt.Acceleration)
	}
	s := y.Shape()
	if h, w := k.Range(); s.N != 1 || s.H != h || s.W != w {
		return nil, fmt.Errorf("pnp: measurements of %v for an operator with a range of %d×%d: %w", s, h, w, backend.ErrShape)
	}
	h, w := k.Domain()
	domain := backend.Image(s.C, h, w)
	if opt.Start != nil && opt.Start.Shape() != domain {
		return nil, fmt.Errorf("pnp: initial estimate of %v, the domain is %v: %w", opt.Start.Shape(), domain, backend.ErrShape)
	}
	defer func() {
		if err != nil {
			it.free()
		}
	}()
	for _, b := range []*backend.Buffer{&it.x, &it.next, &it.gradient} {
		if *b, err = dev.Alloc(domain); err != nil {
			return nil, err
		}
	}
	if it.misfit, err = dev.Alloc(s); err != nil {
		return nil, err
	}
	if opt.Acceleration == Momentum {
		if it.last, err = dev.Alloc(domain); err != nil {
			return nil, err
		}
	}
	if opt.Start != nil {
		err = dev.LinearCombination(it.x, backend.Term{A: 1, X: opt.Start})
	} else {
		err = k.Adjoint(it.x, y)
	}
	if err != nil {
		return nil, err
	}
	if it.set == UnitBox {
		if err = dev.Clip(it.x, it.x, 0, 1); err != nil {
			return nil, err
		}
	}
	if err = it.measure(opt); err != nil {
		return nil, err
	}
	theta, proven := phi.Averagedness()
	it.certificate = certify(theta, proven, norm, reason, it.tau, it.set)
	return it, nil
}

// measure sets what depends on the size of x₀: the errors allowed, and the
// largest possible distance to a fixed point.
func (it *iteration) measure(opt Options) error {
	var sums [2]float64
	if err := it.dev.Reduce(sums[:], backend.Reduction{Kind: backend.SumSquares, X: it.x}, backend.Reduction{Kind: backend.SumSquares, X: it.y}); err != nil {
		return err
	}
	for _, v := range sums {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("pnp: the measurements or the initial estimate hold a NaN or an infinity")
		}
	}
	it.inner = opt.InnerError
	if it.inner == 0 {
		it.inner = DefaultInnerError
	}
	// A start at the zero image must not forbid every error.
	it.inner *= math.Max(math.Sqrt(sums[0]), 1e-3*math.Sqrt(float64(it.x.Shape().Len())))
	it.distance = math.Inf(1)
	if it.set == UnitBox {
		// The farthest corner of the box: Σ max(x, 1−x)², one channel at a time to
		// bound the copy.
		s := it.x.Shape()
		host := make([]float32, s.Plane())
		sum := 0.0
		for c := range s.C {
			view, err := it.dev.Channels(it.x, c, 1)
			if err != nil {
				return err
			}
			if err := it.dev.Download(host, view); err != nil {
				return err
			}
			for _, v := range host {
				far := math.Max(float64(v), 1-float64(v))
				sum += far * far
			}
		}
		it.distance = math.Sqrt(sum)
	}
	return nil
}

// innerShare is the inner error that a step may make, by the residual of the step
// before. Larger ones cost iterations, smaller ones inner iterations; total variation
// deblurring of photographs takes about the same time with 0.3 to 1.
const innerShare = 0.5

// step sets next to T(x) and returns ‖T(x) − x‖ and ‖T(x)‖.
func (it *iteration) step(ctx context.Context) (residual, size float64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	d := it.dev
	// misfit = Kx − y; gradient = Kᵀ·misfit, then x − τ·gradient in place.
	if err := it.k.Apply(it.misfit, it.x); err != nil {
		return 0, 0, err
	}
	if err := d.LinearCombination(it.misfit, backend.Term{A: 1, X: it.misfit}, backend.Term{A: -1, X: it.y}); err != nil {
		return 0, 0, err
	}
	if err := ctx.Err(); err != nil { // a blur of a large image takes its time
		return 0, 0, err
	}
	if err := it.k.Adjoint(it.gradient, it.misfit); err != nil {
		return 0, 0, err
	}
	if err := d.LinearCombination(it.gradient, backend.Term{A: 1, X: it.x}, backend.Term{A: float32(-it.tau), X: it.gradient}); err != nil {
		return 0, 0, err
	}
	if err := it.denoise(ctx); err != nil {
		return 0, 0, err
	}
	if it.set == UnitBox {
		if err := d.Clip(it.next, it.next, 0, 1); err != nil {
			return 0, 0, err
		}
	}
	var sums [2]float64
	if err := d.Reduce(sums[:],
		backend.Reduction{Kind: backend.DiffSquares, X: it.next, Y: it.x},
		backend.Reduction{Kind: backend.SumSquares, X: it.next}); err != nil {
		return 0, 0, err
	}
	if math.IsNaN(sums[0]) || math.IsInf(sums[0], 0) {
		return 0, 0, fmt.Errorf("pnp: iteration %d is not finite", it.n+1)
	}
	it.n++
	it.residual = math.Sqrt(sums[0])
	return it.residual, math.Sqrt(sums[1]), nil
}

// advance goes on to the next point after a step.
func (it *iteration) advance() error {
	if it.last == nil {
		it.x, it.next = it.next, it.x
		return nil
	}
	return it.accelerate()
}

// denoise sets next = Φ(gradient), within the error that this iteration may make.
func (it *iteration) denoise(ctx context.Context) error {
	phi, inexact := it.phi.(InexactDenoiser)
	if !inexact {
		return it.phi.Apply(ctx, it.next, it.gradient)
	}
	allowed := it.inner / math.Pow(float64(it.n+1), 1.1)
	if it.n > 0 {
		// What the step before has moved, its own error taken off, is what there is
		// to resolve.
		allowed = math.Min(allowed, innerShare*math.Max(it.residual, it.lastError))
	}
	e, err := phi.ApplyWithin(ctx, it.next, it.gradient, allowed)
	it.lastError = e
	it.errors += e
	return err
}

func (it *iteration) free() {
	for _, b := range []backend.Buffer{it.x, it.next, it.gradient, it.misfit, it.last} {
		if b != nil {
			b.Free()
		}
	}
}
