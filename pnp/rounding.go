package pnp

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// RoundedDenoiser is a Denoiser that bounds the error that float32 adds.
type RoundedDenoiser interface {
	Denoiser
	// Rounding bounds ‖Φ(x) as computed − Φ(x)‖ for every x of shape s with ‖x‖ ≤ size. The bound may include
	// the error that ApplyWithin returns. It is +Inf if nothing is proven.
	Rounding(ctx context.Context, size float64, s backend.Shape) (bound float64, err error)
}

// float32's unit roundoff: a sum of products, each of them rounded, is off by at most a few
// units of the moduli.
const unit = 0x1p-24

// arithmetic bounds what float32 adds to T. Where the denoiser or the operator does not say, the
// bounds are +Inf.
type arithmetic struct {
	phi      RoundedDenoiser // nil if it does not say
	operator float64         // of K and Kᵀ, relative
	tiny     float64         // of K and Kᵀ by underflow
	norm     float64         // of K

	data float64 // of the data step under way
	last float64 // of the last step
	sum  float64 // of all steps, as iteration.errors
	most float64 // of a step
	// excess is the largest amount by which an inner error exceeded its summable bound. It does
	// not shrink, like rounding.
	excess float64
}

func newArithmetic(k operator.Linear, phi Denoiser, norm, samples float64) (arithmetic, error) {
	a := arithmetic{norm: norm}
	var err error
	if a.operator, err = operator.RoundingOf(k); err != nil {
		return a, err
	}
	a.tiny = backend.BlurUnderflow * (1 + a.operator) * math.Sqrt(samples)
	if of, ok := phi.(RoundedDenoiser); ok {
		a.phi = of
	}
	if !a.known() {
		a.last, a.sum, a.most = math.Inf(1), math.Inf(1), math.Inf(1)
	}
	return a, nil
}

// known tells whether there is anything to add up.
func (a *arithmetic) known() bool { return a.phi != nil && !math.IsInf(a.operator, 1) }

// gradient bounds the rounding of ∇E(x) = Kᵀ(Kx − y), for an x of norm size whose misfit Kx − y as
// computed is as long as said.
func (a *arithmetic) gradient(size, misfit float64) float64 {
	return a.norm*(a.operator*size+unit*misfit) + a.operator*misfit + (1+a.norm)*a.tiny
}

// addRounding adds up the rounding of a step: of the data step, of the denoiser of a point of norm
// moved, and of what may follow, moves and means of images no longer than largest.
func (it *iteration) addRounding(ctx context.Context, moved, largest float64) error {
	a := &it.arithmetic
	if !a.known() {
		return nil
	}
	// Norms are made in float64 of float32 samples, in sums of many terms.
	denoiser, err := a.phi.Rounding(ctx, moved*(1+1e-6), it.next.Shape())
	if err != nil {
		return err
	}
	a.last = a.data + denoiser
	if it.pull != nil {
		a.last += 4 * unit * largest
	}
	if it.anchor != nil || it.last != nil || it.guard != nil {
		a.last += 16 * unit * largest
	}
	a.most = math.Max(a.most, a.last)
	if it.anchor != nil {
		a.sum *= it.anchor.shrink(it.n)
	}
	a.sum += a.last
	return nil
}

// samples is the number of samples of the unknown image.
func (it *iteration) samples() float64 { return float64(it.x.Shape().Len()) }

// Floor returns the residual ‖x − T(x)‖ down to which convergence is proven, if every application of T has an
// error of at most e that does not shrink. It is the limit of the bound of the smallest residual. samples is
// the number of samples of the image, and distance bounds ‖x₀ − x*‖.
//
// With d_k = ‖x_k − x*‖ and x_{k+1} = T(x_k) + e_k, the inequality of an averaged map and ‖T(x_k) − x*‖ ≤ d_k
// give d²_{k+1} ≤ d²_k − (1−α)/α·r²_k + 2·d_k·e + e². In the box d_k ≤ √samples (times Peak). So the smallest
// r² among k+1 is at most
//
//	α/(1−α)·(distance²/(k+1) + 2·√samples·e + e²),
//
// and its limit does not depend on k. With Halpern's iteration it is the minimum over k of 2·distance/(k+1) +
// (k+1)·e. A contraction comes to within e/(1−q) of its fixed point. Without a box or a contraction nothing
// bounds d_k, and the result is +Inf.
func (c Certificate) Floor(e, distance, samples float64) float64 {
	floor := math.Inf(1)
	if !c.Converges() || math.IsNaN(e) || math.IsInf(e, 1) {
		return floor
	}
	switch {
	case c.Acceleration == Halpern && e == 0:
		floor = 0
	case c.Acceleration == Halpern:
		if steps := math.Max(math.Ceil(math.Sqrt(2*distance/e)), 1); !math.IsInf(steps, 1) {
			floor = 2*distance/steps + steps*e
		}
	case c.Constraint == UnitBox:
		floor = math.Sqrt(c.Averagedness / (1 - c.Averagedness) * (2*c.diameter(samples)*e + e*e))
	}
	if c.Contraction < 1 {
		floor = math.Min(floor, (1+c.Contraction)/(1-c.Contraction)*e)
	}
	return floor
}

// diameter is that of the box of so many samples.
func (c Certificate) diameter(samples float64) float64 { return peakOf(c.Peak) * math.Sqrt(samples) }

// residualBound is ResidualBound, or in the box the smaller bound that follows as in Floor: no
// distance in the box is longer than its diameter D, and no error is that counts, because the points
// stay in it: 2·D·e + e² ≤ 3·D·e. Those of Momentum leave it by less than another diameter, so that
// e ≤ 2D and 2·D·e + e² ≤ 4·D·e; T of them is in the box, which is all that the first term needs.
func (c Certificate) residualBound(k int, distance, errors, samples float64) float64 {
	bound := c.ResidualBound(k, distance, errors)
	if c.Constraint == UnitBox && c.Acceleration != Halpern && c.Converges() {
		diameters := 3.0
		if c.Acceleration == Momentum {
			diameters = 4
		}
		square := distance*distance + diameters*c.diameter(samples)*errors
		bound = math.Min(bound, math.Sqrt(c.Averagedness/(1-c.Averagedness)*square/float64(k+1)))
	}
	return bound
}

// Floor is Certificate.Floor for the run, with rounding and with Excess as errors that do not shrink. It is a
// Euclidean norm like Residuals, and +Inf if no convergence is proven.
func (r Report) Floor() float64 {
	return r.Certificate.Floor(r.Rounding+r.Excess, r.Distance, r.Samples)
}

// Reached bounds the residual ‖x − T(x)‖ of the result x. x is T(z) as computed, where z is the last point
// that was not rejected. So ‖x − T(x)‖ ≤ ‖x − T(z)‖ + ‖T(z) − T(x)‖. The first term is the error of T at z,
// and the second is at most ‖z − x‖, the residual as computed. It is +Inf if the rounding is not known.
func (r Report) Reached() float64 {
	last := len(r.Residuals) - 1
	for last >= 0 && slices.Contains(r.Rejected, last) {
		last--
	}
	if last < 0 || !r.Certificate.Proven {
		return math.Inf(1)
	}
	return r.Residuals[last] + r.inner + r.Rounding
}

// ConvergenceProven tells whether the proof covers the run as computed: the rounding is known, Excess is 0,
// and the proven residual, Floor or Reached, is below the diameter of the box, so that it means something.
func (r Report) ConvergenceProven() bool {
	return r.Certificate.Converges() && r.Excess <= 0 && math.Min(r.Floor(), r.Reached()) < r.Certificate.diameter(r.Samples)
}
