package noise

import "math"

// clippingCurve gives, for noise of one standard deviation in one channel, the share of it that clipping leaves as a
// function of the mean that clipping leaves.
type clippingCurve struct {
	means, shares []float64 // means increases; shares are at most 1
}

// newClippingCurve tabulates the curve over the mean μ before clipping. With a = (low−μ)/σ, b = (high−μ)/σ and n
// standard normal, (clip(μ+σn) − μ)/σ has the moments
//
//	E  = aΦ(a) + φ(a) − φ(b) + b(1−Φ(b))
//	E₂ = a²Φ(a) + Φ(b) − Φ(a) + aφ(a) − bφ(b) + b²(1−Φ(b)),
//
// and its standard deviation is the share. (Foi 2009, "Clipped noisy images: heteroskedastic modeling and practical
// denoising", has these curves for one end.)
func newClippingCurve(r valueRange, sigma float64) *clippingCurve {
	const intervals = 512
	low, high := float64(r.low), float64(r.high)
	// Beyond one σ outside the range next to nothing is left of the noise.
	from, to := low-sigma, high+sigma
	const far = 10 // standard deviations, where φ and 1−Φ are nothing
	if !r.clippedBelow {
		low = from - far*sigma
	}
	if !r.clippedAbove {
		high = to + far*sigma
	}
	curve := &clippingCurve{}
	for i := range intervals + 1 {
		mu := from + (to-from)*float64(i)/intervals
		a, b := (low-mu)/sigma, (high-mu)/sigma
		below, above := cumulative(a), cumulative(-b)
		mean := a*below + density(a) - density(b) + b*above
		square := a*a*below + (1 - above - below) + a*density(a) - b*density(b) + b*b*above
		curve.means = append(curve.means, mu+sigma*mean)
		curve.shares = append(curve.shares, math.Sqrt(min(1, max(0, square-mean*mean))))
	}
	return curve
}

// share returns the share of the noise's standard deviation that is left in a flat patch of the given mean.
func (c *clippingCurve) share(mean float64) float64 { return Interpolate(c.means, c.shares, mean) }

// density and cumulative are those of the standard normal distribution, φ and Φ.
func density(x float64) float64    { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
func cumulative(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
