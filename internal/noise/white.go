package noise

import (
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/parallel"
)

// WhiteNoise is what can be said about the white noise of an image.
type WhiteNoise struct {
	// Sigma is the standard deviation of the noise, in units of the values: the root mean square over the channels.
	Sigma float64
	// PerChannel is the standard deviation in each channel, which is less certain than Sigma.
	PerChannel []float64
	// Brightness is the standard deviation along the axis of brightness, (1,1,1)/√3, where noise is in brightness alone, and
	// 0 otherwise.
	Brightness float64
	// Reliable says that Sigma comes from enough of the image, and that what it comes from looks like white noise.
	// Otherwise Note says what is doubtful.
	Reliable bool
	// Note is one clear sentence for a person, empty if there is nothing to say.
	Note string
}

const (
	noteFlat     = "the image does not vary: it has no noise"
	noteNarrow   = "the image is too small to tell noise from content: the estimate is rough"
	noteGraphics = "flat areas have no noise at all, so what varies elsewhere is taken for content"
	noteTexture  = "what varies looks like texture rather than noise: the estimate is an upper bound"
	noteClipped  = "almost everything is clipped or near the ends of the range: the estimate is rough"
)

// MeasureWhite estimates the standard deviation of white noise that was added to an image: planes of height × width
// finite values, one plane after the other. Multiplying the image multiplies the result, and adding a constant does not
// change it. Three channels are taken to be red, green and blue with independent noise; any other number as unrelated
// images.
//
// Small patches on a regular grid are transformed by the cosine transform. The patches with the least energy at low
// frequencies are taken to be flat, and the noise is measured on their high frequencies, by a median (Ponomarenko,
// Lukin, Zriakhov, Kaarna and Astola 2007, "An automatic approach to lossy compression of AVIRIS images", has the idea;
// Donoho and Johnstone 1994 the median). Coefficients of white Gaussian noise are independent, so choosing by some of
// them does not bias the others. Clipped values lose part of their noise; patches are corrected for it, and left out
// where too little remains.
//
// Correlated noise, of a resized, demosaicked or strongly compressed photograph, is underestimated. In grey images
// even, periodic texture of two or three pixels' period passes for noise, because it has no low frequencies. Images
// with a side under 8 pixels are measured by second differences, and those without three values in a row or column give
// 0; neither counts as reliable.
//
// It is an error if pix does not have channels·height·width values, or holds NaN or an infinity. The result does not
// depend on the number of threads. Time beyond one scan of the image, and memory (about 10 MB), do not grow with it.
func MeasureWhite(pix []float32, channels, height, width int) (WhiteNoise, error) {
	ranges, err := scanned(pix, channels, height, width)
	if err != nil {
		return WhiteNoise{}, err
	}
	varies := slices.ContainsFunc(ranges, func(r valueRange) bool { return r.low != r.high })
	switch {
	case height*width > 1 && !varies:
		return WhiteNoise{PerChannel: make([]float64, channels), Reliable: true, Note: noteFlat}, nil
	case min(height, width) < patchSide:
		return fromDifferences(pix, channels, height, width), nil
	}
	s := sample(pix, channels, height, width, ranges)
	var e WhiteNoise
	if channels == 3 {
		e = s.colour()
	} else {
		e = s.unrelated()
	}
	if e.Reliable && height*width < MinSide*MinSide {
		e.Reliable, e.Note = false, noteNarrow
	}
	return e, nil
}

// unrelated measures every channel on its own.
func (s *samples) unrelated() WhiteNoise {
	e := WhiteNoise{Reliable: true}
	square := 0.0
	for c := range s.channels {
		a := make(axis, s.channels)
		a[c] = 1
		m := s.judge(s.measure(a))
		e.PerChannel = append(e.PerChannel, m.sigma)
		square += m.sigma * m.sigma
		e.Reliable = e.Reliable && m.reliable
		if e.Note == "" {
			e.Note = m.note
		}
	}
	e.Sigma = math.Sqrt(square / float64(s.channels))
	return e
}

// scanned checks an image and returns the ranges of its channels.
func scanned(pix []float32, channels, height, width int) ([]valueRange, error) {
	if channels < 1 || height < 1 || width < 1 {
		return nil, fmt.Errorf("noise: %d channels of %d×%d pixels; each must be at least 1", channels, width, height)
	}
	if n := len(pix) / channels; n*channels != len(pix) || n/height != width || n%height != 0 {
		return nil, fmt.Errorf("noise: %d values for %d channels of %d×%d pixels; there must be one for each", len(pix), channels, width, height)
	}
	ranges, errs := make([]valueRange, channels), make([]error, channels)
	parallel.Concurrently(channels, func(c int) {
		ranges[c], errs[c] = scan(pix[c*height*width : (c+1)*height*width])
	})
	for c, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("noise: channel %d %w", c, err)
		}
	}
	return ranges, nil
}
