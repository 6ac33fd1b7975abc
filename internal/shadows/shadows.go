package shadows

import (
	"math"
	"sort"
	"sync"
)

// Curve is what mends one channel. The zero Curve changes nothing.
type Curve struct {
	tones, shifts []float64 // tones rise, from 0 on; shifts are linear in between, and the last one holds above
}

// tones is the number of intervals of brightness, from 0 to 1, in which noise is measured, leastSamples how
// many samples one must have.
const tones, leastSamples = 32, 200

// Noise is compared with the model's skewness where its standard deviation is at most mostRatio of the
// mean, and the mean clippedAbove of these below white: beyond, black and white limit it.
const mostRatio, clippedAbove = 0.4, 2.5

// certainty are the shares of the model's skewness from which on the shift is believed, and from which on all of it.
// Photographs of SIDD have 0.4 to 0.9, those of PolyU and white noise −0.2 to 0.15. A share is taken for what
// it is less deviations times its standard deviation.
const (
	noCertainty, certainty = 0.15, 0.4
	deviations             = 3
)

// mostLost is the most that what was taken away may have of a mean at each brightness, as a share of its variance.
// Noise has next to none; a network that has not learned changes tones.
const mostLost = 0.25

// steepest is the most by which the curve's slope differs from 1.
const steepest = 0.5

// Mend mends what a denoiser has made of a photograph, both given as planes with samples of 0 to 1 and of the same
// length, and returns the curve of each channel.
func Mend(noisy, denoised []float32, channels int) []Curve {
	curves := make([]Curve, channels)
	n := len(noisy) / channels
	var group sync.WaitGroup
	for c := range curves {
		group.Go(func() {
			plane := denoised[c*n:][:n]
			curves[c] = measure(noisy[c*n:][:n], plane)
			curves[c].apply(plane)
		})
	}
	group.Wait()
	return curves
}

// moments are sums over the samples of a tone: of the mean that is left, and of the noise that was taken away, to
// its powers.
type moments struct{ n, level, first, second, third float64 }

func measure(noisy, denoised []float32) Curve {
	var sums [tones]moments
	for i, level := range denoised {
		d := float64(noisy[i] - level)
		s := &sums[int(min(max(tones*level, 0), tones-1))]
		s.n++
		s.level += float64(level)
		s.first += d
		s.second += d * d
		s.third += d * d * d
	}
	curve := Curve{tones: []float64{0}, shifts: []float64{0}}
	agreement, expected := 0.0, 0.0
	noise, lost := 0.0, 0.0 // sums of squares
	for _, s := range sums {
		if s.n < leastSamples {
			continue
		}
		level, mean := s.level/s.n, s.first/s.n
		variance := s.second/s.n - mean*mean
		last := len(curve.tones) - 1
		if !(variance > 0) || !(level > curve.tones[last]) {
			continue
		}
		deviation := math.Sqrt(variance)
		noise += s.n * variance
		lost += s.n * mean * mean
		o := outcomeAt(deviation / level)
		if deviation <= mostRatio*level && level+clippedAbove*deviation <= 1 {
			skewness := (s.third/s.n - 3*mean*s.second/s.n + 2*mean*mean*mean) / (variance * deviation)
			agreement += s.n * skewness * o.skewness
			expected += s.n * o.skewness * o.skewness
		}
		most := steepest * (level - curve.tones[last])
		shift := level * (o.factor - 1)
		curve.tones = append(curve.tones, level)
		curve.shifts = append(curve.shifts, curve.shifts[last]+min(max(shift-curve.shifts[last], -most), most))
	}
	if !(expected > 0) || lost > mostLost*noise {
		return Curve{}
	}
	// The skewness of n normal samples has the variance 6/n.
	share := agreement/expected - deviations*math.Sqrt(6/expected)
	belief := min((share-noCertainty)/(certainty-noCertainty), 1)
	if !(belief > 0) {
		return Curve{}
	}
	for i := range curve.shifts {
		curve.shifts[i] *= belief
	}
	return curve
}

// apply mends samples.
func (c Curve) apply(samples []float32) {
	if len(c.tones) == 0 {
		return
	}
	for i, v := range samples {
		samples[i] = v + float32(c.shift(float64(v)))
	}
}

// shift is what is added to a sample.
func (c Curve) shift(v float64) float64 {
	i := sort.SearchFloat64s(c.tones, v)
	switch i {
	case 0:
		return 0
	case len(c.tones):
		return c.shifts[i-1]
	}
	share := (v - c.tones[i-1]) / (c.tones[i] - c.tones[i-1])
	return c.shifts[i-1] + share*(c.shifts[i]-c.shifts[i-1])
}

// Raised is the most that is added to any sample: 0 of a curve that changes nothing.
func (c Curve) Raised() float64 {
	most := 0.0
	for _, s := range c.shifts {
		most = max(most, s)
	}
	return most
}

// Slope is the least Lipschitz constant of the curve: two samples differ after it by at most Slope times as
// much. It is at most 1.5, and 1 of a curve that changes nothing.
func (c Curve) Slope() float64 {
	most := 1.0
	for i := 1; i < len(c.tones); i++ {
		most = max(most, 1+(c.shifts[i]-c.shifts[i-1])/(c.tones[i]-c.tones[i-1]))
	}
	return most
}
