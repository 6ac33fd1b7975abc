package noiselevel

import (
	"math"

	"github.com/averaged/imaging/internal/perceptron"
)

// Which part of what varies is noise, the spectrum of one image does not say by itself: clouds and
// out-of-focus leaves are as smooth as the noise of a camera. What can be said is how likely each
// is, from many photographs with and without noise. So the rule from features to the level is
// learned: three layers, whose outputs are the quantiles 0.2, 0.5 and 0.8 of the logarithm of the level. Package
// learn makes it, and says of what.
//
// The level is the standard deviation of the white noise that a denoiser should be told of. With
// the deviations s₁, s₂, s₃ of the true noise of brightness in the first three bands, it is
//
//	0.95·√(0.35·s₁² + 0.4·s₂² + 0.25·s₃²):
//
// what counts is the density of the noise at low frequencies, since a denoiser that is told less
// takes coarse noise for content. (NOTEBOOK.md has the measurements.)

// leastLevel is added to levels before the logarithm is taken, in 255ths: a fraction of a step of
// 8 bits is no noise.
const leastLevel = 0.3

// level returns the three quantiles of the level that a rule says, in increasing order, in units where white is 1.
func level(rule *perceptron.Network, features []float64) (low, middle, high float64) {
	out := [3]float64(rule.Outputs(features))
	for i, v := range out {
		out[i] = max(math.Exp(v)-leastLevel, 0) / 255
	}
	middle = out[1]
	return min(out[0], middle), middle, max(out[2], middle)
}

// TrueLevel is the level of noise that is known, as the difference of two images.
func TrueLevel(noise []float32, channels, height, width int) float64 {
	deviation := TrueSpectrum(noise, channels, height, width)
	return 0.95 * math.Sqrt(0.35*deviation[0]*deviation[0]+0.4*deviation[1]*deviation[1]+0.25*deviation[2]*deviation[2])
}

// TrueSpectrum returns the standard deviation of noise that is known, on the axis of brightness in
// each band.
func TrueSpectrum(noise []float32, channels, height, width int) (deviation [bandCount]float64) {
	basis := cosineBasis()
	w := squareMeter{basis: &basis}
	ranges := make([]valueRange, channels)
	squares := 0.0
	for y := 0; y+groupSide <= height; y += groupSide {
		for x := 0; x+groupSide <= width; x += groupSide {
			var g group
			w.measure(&g, noise, channels, height, width, y, x, ranges)
			for b, e := range g.energy[axisOfBrightness] {
				deviation[b] += float64(e)
			}
			squares++
		}
	}
	for b := range deviation {
		deviation[b] = math.Sqrt(deviation[b] / squares)
	}
	return deviation
}

// Features returns what the rule of the level goes by, and nil where an image is too small or varies
// too little for it. Its arguments are Estimate's, with one channel or three.
func Features(pix []float32, channels, height, width int) ([]float64, error) {
	ranges, err := scanned(pix, channels, height, width)
	if err != nil {
		return nil, err
	}
	s := newSpectrum(pix, channels, height, width, ranges)
	if s == nil {
		return nil, nil
	}
	return s.features(), nil
}

// whiteInColour says whether what varies along the axes of colour is about as strong at all
// frequencies where the image is calm.
func (s *spectrum) whiteInColour() bool {
	middle := s.floor[axisOfColour][1][lowest]
	return s.axes > 1 && s.floor[axisOfColour][3][tenth] >= 0.6*math.Max(middle, leastWhite)
}

// topOfColour returns the floor of the highest band along the axes of colour, and whether the
// spectrum is flat up there, as that of white noise is and that of demosaicked or subsampled colour is
// not.
func (s *spectrum) topOfColour() (top float64, flat bool) {
	const lowest = 0 // of quantiles
	if s.axes == 1 {
		return 0, false
	}
	next, top := s.floor[axisOfColour][2][lowest], s.floor[axisOfColour][3][lowest]
	return top, top >= leastWhite && next <= flatWithin*top
}

// leastWhite is the level from which on noise can be seen to be white.
const leastWhite = 1.3 / 255

// WhiteInColour is the question of whiteInColour, of an image.
func WhiteInColour(pix []float32, channels, height, width int) bool {
	ranges, err := scanned(pix, channels, height, width)
	if err != nil {
		return false
	}
	s := newSpectrum(pix, channels, height, width, ranges)
	return s != nil && s.whiteInColour()
}
