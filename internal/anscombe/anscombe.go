// Package anscombe makes the noise of a sensor white: the generalised Anscombe transform, and its
// exact unbiased inverse (Mäkitalo and Foi 2013, "Optimal inversion of the generalized Anscombe
// transformation for Poisson-Gaussian noise").
//
// A sensor that counts electrons reads z = a·p + n, where p is Poisson, a·p has mean x, and n is
// Gaussian with mean 0 and variance b. The variance of z is a·x + b. The transform of z has a variance
// of about 1 wherever x is not so small that the root below is cut off at 0.
package anscombe

import (
	"errors"
	"math"
	"sort"
)

// Transform is the generalised Anscombe transform of one kind of noise. It does not change after it
// is made, and any number of goroutines may use it.
type Transform struct {
	gain   float64 // a
	offset float64 // 3/8 + b/a², in electrons
	sd     float64 // √b, where a is 0
	// means[i] is the mean of the transform of i²·step² electrons of light; it increases.
	means []float64
	step  float64
}

const (
	// exactBelow is the variance, in electrons, up to which means are summed up; above it a series is
	// as good (the first terms that are left out are below 1e-5, of a deviation of 1).
	exactBelow = 100
	// tablePoints is how many means there are between light 0 and what the series serves.
	tablePoints = 200
)

// New returns the transform for noise of variance a·x + b. Both must be finite and not negative, and
// not both 0. With a = 0 it is a division by √b.
func New(a, b float64) (*Transform, error) {
	if !(a >= 0) || !(b >= 0) || a+b == 0 || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return nil, errors.New("anscombe: the variance of noise is a·x + b, with finite a and b from 0, and not both 0")
	}
	t := &Transform{gain: a, sd: math.Sqrt(b)}
	read := b / a / a // in electrons²
	if a == 0 || read > 1e12 {
		t.gain = 0 // Of so many electrons none can be told: the noise is as strong everywhere.
		return t, nil
	}
	t.offset = 3./8 + read
	if read >= exactBelow {
		return t, nil
	}
	t.step = math.Sqrt(exactBelow-read) / tablePoints
	for i := range tablePoints + 1 {
		s := float64(i) * t.step
		t.means = append(t.means, t.summedMean(s*s))
	}
	return t, nil
}

// Forward returns the transform of a reading, which is 0 where the reading is improbably dark.
func (t *Transform) Forward(z float64) float64 {
	if t.gain == 0 {
		return z / t.sd
	}
	return 2 * math.Sqrt(max(0, z/t.gain+t.offset))
}

// Mean returns the mean of Forward over the readings of light x, from 0.
func (t *Transform) Mean(x float64) float64 {
	if t.gain == 0 {
		return x / t.sd
	}
	electrons := x / t.gain
	if n := len(t.means); n > 0 {
		if at := math.Sqrt(electrons) / t.step; at < float64(n-1) {
			i := int(at)
			// Means are smooth in light, less so in its root: between two of them they are
			// interpolated in light.
			l, r := float64(i)*t.step, float64(i+1)*t.step
			return t.means[i] + (t.means[i+1]-t.means[i])*(electrons-l*l)/(r*r-l*l)
		}
	}
	return t.seriesMean(electrons)
}

// Inverse returns the light x of which the transform has the given mean: Mean(Inverse(mean)) is mean. So
// a mean of transforms, which is what a denoiser makes, becomes the light without the bias that the
// algebraic inverse of Forward has. Means below that of no light, which noise can leave, go on along the tangent,
// to negative light, so that an average over dark areas keeps its mean.
func (t *Transform) Inverse(mean float64) float64 {
	if t.gain == 0 {
		return mean * t.sd
	}
	dark := t.Mean(0)
	if mean <= dark {
		light := t.gain // an electron
		return (mean - dark) * light / (t.Mean(light) - dark)
	}
	n := len(t.means)
	if n > 0 && mean < t.means[n-1] {
		i := sort.SearchFloat64s(t.means, mean)
		l, r := float64(i-1)*t.step, float64(i)*t.step
		return t.gain * (l*l + (r*r-l*l)*(mean-t.means[i-1])/(t.means[i]-t.means[i-1]))
	}
	// The algebraic inverse is within an electron of it; the series is solved by Newton's method.
	e := max(mean*mean/4-t.offset, 0)
	for range 4 {
		e = max(e-(t.seriesMean(e)-mean)*math.Sqrt(e+t.offset), 0)
	}
	return t.gain * e
}

// seriesMean is the mean of 2√(z + offset) by its Taylor series at the mean of z, to the fourth moment.
// The moments about the mean are e + read, e, and 3·(e + read)² + e.
func (t *Transform) seriesMean(e float64) float64 {
	u := e + t.offset
	variance := u - 3./8
	root := math.Sqrt(u)
	return 2*root - variance/(4*u*root) + e/(8*u*u*root) - 5*(3*variance*variance+e)/(64*u*u*u*root)
}

// summedMean is that mean by the sum over all numbers of electrons, and for each the integral over the
// Gaussian noise, by the trapezoidal rule.
func (t *Transform) summedMean(e float64) float64 {
	sd := math.Sqrt(t.offset - 3./8)
	const (
		reach = 6 // standard deviations
		steps = 48
	)
	var nodes, weights []float64
	if sd == 0 {
		nodes, weights = []float64{0}, []float64{1}
	} else {
		sum := 0.
		for i := -steps; i <= steps; i++ {
			x := reach * float64(i) / steps
			w := math.Exp(-x * x / 2)
			nodes, weights = append(nodes, x*sd), append(weights, w)
			sum += w
		}
		for i := range weights {
			weights[i] /= sum
		}
	}
	mean := 0.
	// Beyond these numbers of electrons there is less than 1e-9 of the probability.
	first, last := max(0, math.Floor(e-8*math.Sqrt(e)-12)), math.Ceil(e+8*math.Sqrt(e)+12)
	for k := first; k <= last; k++ {
		p := 1. // of k electrons
		if e > 0 {
			g, _ := math.Lgamma(k + 1)
			p = math.Exp(k*math.Log(e) - e - g)
		} else if k > 0 {
			break
		}
		for i, x := range nodes {
			mean += p * weights[i] * 2 * math.Sqrt(max(0, k+x+t.offset))
		}
	}
	return mean
}
