package denoising

import (
	"math"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/parallel"
)

// The noise of a sensor is in linear light, where its mean is zero. A camera's tone curve f is concave, so that what
// comes out is darker than without noise: of noise n with standard deviation σ in a light u, limited at black,
//
//	E f(max(u+n, 0)) ≈ f(u) + ½·f″(u)·σ²,
//
// which in the shadows of a noisy photograph is as much as a tenth of the brightness, in all of them. A denoiser
// estimates the mean of what it sees, and keeps the shift.
//
// With f(u) = u^(1/γ) the ratio of what comes out, its standard deviation over its mean, says all: it determines σ/u,
// and with it the ratio of f(u) to the mean, and the skewness (toneModel). So for each channel and brightness the noise
// that a denoiser has taken away gives the shift. That the noise has come through a tone curve at all shows in its
// skewness: negative, and the more so the darker it is. Noise that was added to a finished picture has none, nor has
// what a camera has smoothed after its tone curve; these are left as they are.
//
// The curve is a function of each sample alone. It leaves black where it is, and rises everywhere (Slope). It is no
// nonexpansive map: two images differ after it by up to Slope times as much.

// shadowCurve is what mends one channel. The zero shadowCurve changes nothing.
type shadowCurve struct {
	tones, shifts []float64 // tones rise, from 0 on; shifts are linear in between, and the last one holds above
}

// mendShadows brightens in out, the denoised p, the shadows that noise has darkened, and reports the curves. The level map
// that the method was given tells which squares have noise.
func mendShadows(p *imageplanes.Planes, out []float32, method string, report *outcome.Noise) {
	raised, slope := 0.0, 1.0
	var noiseless func(i int) bool
	if m := levelsFor(report.Estimate, method); m.Check(p.Height, p.Width) == nil {
		noiseless = func(i int) bool { return m.Sigma[i/p.Width/m.Side*m.Columns+i%p.Width/m.Side] == 0 }
	}
	for _, curve := range mended(p.Pix, out, p.Channels, noiseless) {
		raised, slope = max(raised, curve.Raised()), max(slope, curve.Slope())
	}
	if raised > 0 {
		report.ShadowsRaised, report.ShadowSlope = raised, slope
	}
}

// mended mends what a denoiser has made of a photograph, both given as planes with samples of 0 to 1 and of the same
// length, and returns the curve of each channel.
// Samples that are noiseless, of which a nil function tells none, say nothing of the shadows of others.
func mended(noisy, denoised []float32, channels int, noiseless func(i int) bool) []shadowCurve {
	curves := make([]shadowCurve, channels)
	n := len(noisy) / channels
	parallel.Concurrently(channels, func(c int) {
		plane := denoised[c*n:][:n]
		curves[c] = measureShadows(noisy[c*n:][:n], plane, noiseless)
		curves[c].apply(plane)
	})
	return curves
}

// moments are sums over the samples of a tone: of the mean that is left, and of the noise that was taken away, to its
// powers.
type moments struct{ n, level, first, second, third float64 }

func measureShadows(noisy, denoised []float32, noiseless func(i int) bool) shadowCurve {
	const tones = noise.ShadowTones
	var sums [tones]moments
	for i, level := range denoised {
		if noiseless != nil && noiseless(i) {
			continue
		}
		d := float64(noisy[i] - level)
		s := &sums[int(min(max(tones*level, 0), tones-1))]
		s.n++
		s.level += float64(level)
		s.first += d
		s.second += d * d
		s.third += d * d * d
	}
	curve := shadowCurve{tones: []float64{0}, shifts: []float64{0}}
	agreement, expected := 0.0, 0.0
	removed, lost := 0.0, 0.0 // sums of squares
	for _, s := range sums {
		if s.n < noise.ShadowSamples {
			continue
		}
		level, mean := s.level/s.n, s.first/s.n
		variance := s.second/s.n - mean*mean
		last := len(curve.tones) - 1
		if !(variance > 0) || !(level > curve.tones[last]) {
			continue
		}
		deviation := math.Sqrt(variance)
		removed += s.n * variance
		lost += s.n * mean * mean
		o := toneAt(deviation / level)
		if deviation <= noise.MaxRatio*level && level+noise.BelowWhite*deviation <= 1 {
			skewness := (s.third/s.n - 3*mean*s.second/s.n + 2*mean*mean*mean) / (variance * deviation)
			agreement += s.n * skewness * o.skewness
			expected += s.n * o.skewness * o.skewness
		}
		most := noise.SteepestShadows * (level - curve.tones[last])
		shift := level * (o.factor - 1)
		curve.tones = append(curve.tones, level)
		curve.shifts = append(curve.shifts, curve.shifts[last]+min(max(shift-curve.shifts[last], -most), most))
	}
	// Noise has next to no mean at any brightness; a network that has not learned changes tones.
	if !(expected > 0) || lost > noise.MaxLost*removed {
		return shadowCurve{}
	}
	// The skewness of n normal samples has the variance 6/n.
	share := agreement/expected - noise.CertaintyDoubts*math.Sqrt(6/expected)
	belief := min((share-noise.NoCertainty)/(noise.Certainty-noise.NoCertainty), 1)
	if !(belief > 0) {
		return shadowCurve{}
	}
	for i := range curve.shifts {
		curve.shifts[i] *= belief
	}
	return curve
}

// apply mends samples.
func (c shadowCurve) apply(samples []float32) {
	if len(c.tones) == 0 {
		return
	}
	for i, v := range samples {
		samples[i] = v + float32(noise.Interpolate(c.tones, c.shifts, float64(v)))
	}
}

// Raised is the most that is added to any sample: 0 of a curve that changes nothing.
func (c shadowCurve) Raised() float64 {
	most := 0.0
	for _, s := range c.shifts {
		most = max(most, s)
	}
	return most
}

// Slope is the least Lipschitz constant of the curve: two samples differ after it by at most Slope times as much. It is
// at most 1.5, and 1 of a curve that changes nothing.
func (c shadowCurve) Slope() float64 {
	most := 1.0
	for i := 1; i < len(c.tones); i++ {
		most = max(most, 1+(c.shifts[i]-c.shifts[i-1])/(c.tones[i]-c.tones[i-1]))
	}
	return most
}
