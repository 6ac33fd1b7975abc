// Package noiselevel estimates the standard deviation of additive white Gaussian
// noise from one noisy image.
//
// Small patches on a regular grid are transformed by the cosine transform. The
// patches with the least energy at low frequencies are taken to be flat, and the
// noise is measured on their high frequencies, by a median (Ponomarenko,
// Lukin, Zriakhov, Kaarna and Astola 2007, "An automatic approach to lossy
// compression of AVIRIS images", has the idea; Donoho and Johnstone 1994 the
// median). Coefficients of white Gaussian noise are independent, so choosing by
// some of them does not bias the others.
//
// In colour images the noise is measured on the two axes orthogonal to grey,
// (1,0,−1)/√2 and (1,−2,1)/√6: white noise is as strong there as in the channels,
// edges and texture much weaker. Where the noise is not white in colour, because
// it was there before the image was compressed with subsampled chroma, these axes
// would see next to none of it; so brightness is measured too, and is believed if
// it shows at least twice as much and that is spread as evenly as noise is; then
// the channels are measured one by one, and the result is called unreliable.
//
// Values clipped at the ends of the range, as in every 8-bit photograph, lose part
// of their noise; patches are corrected for it by the moments of the clipped
// normal distribution, and left out where too little remains.
//
// What this cannot do: correlated noise (of a resized, demosaicked or strongly
// compressed photograph) is underestimated; and in grey images even, periodic
// texture of two or three pixels' period passes for noise, having no low
// frequencies.
package noiselevel

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// Estimation is what can be said about the noise of an image.
type Estimation struct {
	// Sigma is the standard deviation of the noise, in units of the values: the
	// root mean square over the channels.
	Sigma float64
	// PerChannel is the standard deviation in each channel, which is less certain
	// than Sigma.
	PerChannel []float64
	// Reliable says that Sigma comes from enough of the image, and that what it
	// comes from looks like white noise. Otherwise Note says what is doubtful.
	Reliable bool
	// Note is one clear sentence for a person, empty if there is nothing to say.
	Note string
}

const (
	// leastHomogeneity is the homogeneity below which variation counts as
	// texture. White Gaussian noise has 0.94 to 1.06 in eight of ten photographs
	// of 0.15 megapixels.
	leastHomogeneity = 0.6
	// leastQuiet is the share of the patches that have to be about as flat as noise
	// of the measured level alone would be.
	leastQuiet = 0.01
	// minPixels is how many pixels a reliable estimate needs: a smaller image has
	// too few patches that are flat, and too few coefficients in them.
	minPixels = 64 * 64
	// constantShare is the share of constant patches from which on an image whose
	// other patches show texture counts as free of noise.
	constantShare = 0.1
)

const (
	noteFlat     = "the image does not vary: it has no noise"
	noteNarrow   = "the image is too small to tell noise from content: the estimate is rough"
	noteGraphics = "flat areas have no noise at all, so what varies elsewhere is taken for content"
	noteTexture  = "what varies looks like texture rather than noise: the estimate is an upper bound"
	noteClipped  = "almost everything is clipped or near the ends of the range: the estimate is rough"
)

// Estimate estimates the noise of pix: planes of height × width finite values, one
// plane after the other. The scale is the caller's: multiplying the image
// multiplies the result, and adding a constant does not change it. Three channels
// are taken to be red, green and blue with independent noise; any other number as
// unrelated images.
//
// Images with a side under 8 pixels are measured by second differences, and those
// without three values in a row or column give 0; neither counts as reliable.
//
// It is an error if pix does not have channels·height·width values, or holds NaN
// or an infinity. The same input gives the same result, with any number of
// threads. Time beyond one scan of the image, and memory (about 10 MB), do not
// grow with it. Safe for concurrent use.
func Estimate(pix []float32, channels, height, width int) (Estimation, error) {
	ranges, err := scanned(pix, channels, height, width)
	if err != nil {
		return Estimation{}, err
	}
	if channels == 3 && EqualPlanes(pix) {
		e := estimateFinite(pix[:height*width], 1, height, width, ranges[:1])
		e.PerChannel = []float64{e.Sigma, e.Sigma, e.Sigma}
		return e, nil
	}
	return estimateFinite(pix, channels, height, width, ranges), nil
}

// estimateFinite is Estimate of finite values.
func estimateFinite(pix []float32, channels, height, width int, ranges []valueRange) Estimation {
	flat := true
	for _, r := range ranges {
		flat = flat && r.low == r.high
	}
	switch {
	case height*width > 1 && flat:
		return Estimation{PerChannel: make([]float64, channels), Reliable: true, Note: noteFlat}
	case min(height, width) < patchSide:
		return fromDifferences(pix, channels, height, width)
	}
	s := sample(pix, channels, height, width, ranges)
	var e Estimation
	if channels == 3 {
		e = s.colour()
	} else {
		e = s.unrelated()
	}
	if e.Reliable && height*width < minPixels {
		e.Reliable, e.Note = false, noteNarrow
	}
	return e
}

// EqualPlanes says whether the three planes of pix are the same: a grey image kept
// as colour, whose noise has no component along the opponent axes.
func EqualPlanes(pix []float32) bool {
	n := len(pix) / 3
	return slices.Equal(pix[:n], pix[n:2*n]) && slices.Equal(pix[:n], pix[2*n:])
}

// concurrently calls body(c) for every channel, all at the same time.
func concurrently(channels int, body func(c int)) {
	var group sync.WaitGroup
	for c := range channels {
		group.Go(func() { body(c) })
	}
	group.Wait()
}

// unrelated measures every channel on its own.
func (s *samples) unrelated() Estimation {
	e := Estimation{Reliable: true}
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
		return nil, fmt.Errorf("noiselevel: %d channels of %d×%d pixels; each must be at least 1", channels, width, height)
	}
	if n := len(pix) / channels; n*channels != len(pix) || n/height != width || n%height != 0 {
		return nil, fmt.Errorf("noiselevel: %d values for %d channels of %d×%d pixels; there must be one for each", len(pix), channels, width, height)
	}
	ranges, errs := make([]valueRange, channels), make([]error, channels)
	concurrently(channels, func(c int) {
		ranges[c], errs[c] = scan(pix[c*height*width : (c+1)*height*width])
	})
	for c, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("noiselevel: channel %d %w", c, err)
		}
	}
	return ranges, nil
}
