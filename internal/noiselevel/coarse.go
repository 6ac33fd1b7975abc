package noiselevel

import "math"

// Which part of what varies is noise, the spectrum of one image does not say by itself: clouds and
// out-of-focus leaves are as smooth as the noise of a camera. What can be said is how likely each
// is, from many photographs with and without noise. So the rule from features to the level is
// learned: three layers, whose outputs are three quantiles of the logarithm of the level. Package
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

// layerCount is how many layers the rule has.
const layerCount = 3

// layers are the rule's coefficients: inputs are shifted and scaled, and go through the layers one
// after the other, W·x + b, with tanh of all but the last.
type layers struct {
	shift, scale []float32               // of each feature
	rows         [layerCount][][]float32 // the weights, and the bias at the end; of the last for the quantiles 0.2, 0.5 and 0.8
}

// level returns the three quantiles of the level, in increasing order, in units where white is 1.
func (l *layers) level(features []float64) (low, middle, high float64) {
	x := make([]float64, len(features))
	for i, f := range features {
		// Features beyond what was learned from are taken for the farthest of it.
		x[i] = min(max((f-float64(l.shift[i]))*float64(l.scale[i]), -4), 4)
	}
	for n, rows := range l.rows {
		y := make([]float64, len(rows))
		for i, row := range rows {
			y[i] = affine(row, x)
			if n < layerCount-1 {
				y[i] = math.Tanh(y[i])
			}
		}
		x = y
	}
	out := [3]float64(x)
	for i, v := range out {
		out[i] = max(math.Exp(v)-leastLevel, 0) / 255
	}
	middle = out[1]
	return min(out[0], middle), middle, max(out[2], middle)
}

// affine returns the sum of row[i]·x[i] and the bias at the end of row.
func affine(row []float32, x []float64) float64 {
	sum := float64(row[len(x)])
	for i, v := range x {
		sum += float64(float64(row[i]) * v)
	}
	return sum
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
