package noiselevel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Kind is what noise looks like.
type Kind int

const (
	// None is no noise that could be seen.
	None Kind = iota
	// White noise is as strong at all frequencies, as scans and synthetic noise have it.
	White
	// Coarse noise has more of low frequencies than of high ones, as the photographs of cameras and
	// compressed images have it; or it is stronger in brightness than in colour.
	Coarse
)

// String returns a word.
func (k Kind) String() string {
	switch k {
	case None:
		return "none"
	case White:
		return "white"
	}
	return "coarse"
}

// Profile says what the noise of an image is like.
type Profile struct {
	Kind Kind
	// Sigma is the level: the standard deviation of the white noise that a denoiser should be told
	// of. Of White noise it is its standard deviation, of Coarse noise about its density at low
	// frequencies, two or three times its root mean square.
	Sigma float64
	// Low and High are where the level is likely to be: below Low and above High it is in one image of
	// five each. For White noise that is reliable they are Sigma.
	Low, High float64
	// Learned is the level by the learned rule alone, however much of it is believed; 0 where it was
	// not asked.
	Learned float64
	// Even says that brightness varies as much in the calmest squares as in a tenth of them, at periods
	// of four to eight pixels, as noise does. What is blurred does so in one photograph of three.
	Even bool
	// PerChannel is the standard deviation in each channel as White noise.
	PerChannel []float64
	// Bands are the floors of what varies, of bright to dim detail; nil of an image that is too small.
	Bands []Band
	// Tones are how the floor depends on the brightness, from dark to bright; nil as above.
	Tones []Tone
	// Reliable says that there is little doubt of Sigma; otherwise Note says what is doubtful, and what
	// may help.
	Reliable bool
	Note     string
}

// Band is what is measured in a band of spatial frequencies: in the calmest tenth of the image, the
// standard deviation that white noise would have to have. Texture may be in it as well.
type Band struct {
	// Period is the length of a wave in the middle of the band, in pixels.
	Period float64
	// Brightness and Colour are along those axes of colour; Colour is 0 for grey images.
	Brightness, Colour float64
}

// Tone is the floor of brightness at periods of four to eight pixels, in areas of about one brightness.
type Tone struct {
	Mean, Sigma float64
}

// belowRounding is the level below which noise cannot be told from rounding to 8 bits.
const belowRounding = 0.6 / 255

// EstimateProfile measures the noise of pix, as Estimate does, and tells noise of cameras from white
// noise and from texture. One channel is grey, three are red, green and blue.
func EstimateProfile(pix []float32, channels, height, width int) (Profile, error) {
	return estimateProfile(pix, channels, height, width, false)
}

// EstimateBlurredProfile is EstimateProfile for an image that is known to be blurred, or coarsely sampled: it has
// little texture for noise to hide in, so that a floor is believed whatever colour says.
func EstimateBlurredProfile(pix []float32, channels, height, width int) (Profile, error) {
	return estimateProfile(pix, channels, height, width, true)
}

func estimateProfile(pix []float32, channels, height, width int, blurred bool) (Profile, error) {
	ranges, err := scanned(pix, channels, height, width)
	if err != nil {
		return Profile{}, err
	}
	if channels == 3 && EqualPlanes(pix) {
		p := profile(pix[:height*width], 1, height, width, ranges[:1], blurred)
		p.PerChannel = []float64{p.PerChannel[0], p.PerChannel[0], p.PerChannel[0]}
		return p, nil
	}
	return profile(pix, channels, height, width, ranges, blurred), nil
}

func profile(pix []float32, channels, height, width int, ranges []valueRange, blurred bool) Profile {
	clippedGround := false
	if !blurred {
		d := newDrawing(pix, channels, height, width, ranges)
		if d.drawn() {
			return Profile{Kind: None, PerChannel: make([]float64, channels), Note: noteDrawn}
		}
		if inside, h, w := withoutFrame(pix, channels, height, width, ranges); len(inside) < len(pix) {
			pix, height, width = inside, h, w
			d = newDrawing(pix, channels, height, width, ranges)
		}
		clippedGround = d.clippedOnly()
	}
	e := estimateFinite(pix, channels, height, width, ranges, clippedGround)
	p := Profile{Kind: White, Sigma: e.Sigma, Low: e.Sigma, High: e.Sigma, PerChannel: e.PerChannel, Reliable: e.Reliable, Note: e.Note}
	if e.Sigma == 0 {
		p.Kind = None
	}
	if channels != 1 && channels != 3 || e.Note == noteFlat || e.Note == noteGraphics && !compressed(pix, channels, height, width) {
		return p
	}
	s := newSpectrum(pix, channels, height, width, ranges)
	if s == nil {
		return p
	}
	s.blurred = blurred
	s.rounded = sync.OnceValue(func() float64 { return rounded(pix, channels, height, width) })
	p.Bands, p.Tones = s.bands(), s.tones()
	l := &colourLayers
	if s.axes == 1 {
		l = &greyLayers
	}
	low, middle, high := level(l, s.features())
	p.Learned = middle
	floor := s.floor[axisOfBrightness][1]
	p.Even = floor[0] > 0 && floor[1] <= mostEven*floor[0]
	return p.judged(s, judgement{low, middle, high})
}

// coarse turns to noise that is not white, of a level.
func (p Profile) coarse(j judgement, level float64) Profile {
	scale := level / math.Max(j.middle, 1e-9)
	p.Kind, p.Sigma, p.Low, p.High = Coarse, level, scale*j.low, scale*j.high
	p.Reliable, p.Note = true, ""
	switch {
	case level < belowRounding:
		p.Kind = None
	case p.High > 2*p.Low+2*belowRounding:
		p.Reliable = false
		p.Note = fmt.Sprintf("the noise is coarse, and hard to tell from texture: its level is probably between %.2g and %.2g; if noise is left, try --strength strong, if texture is lost, --strength light", p.Low, p.High)
	}
	return p
}

// bands are the floors at a tenth of the squares.
func (s *spectrum) bands() []Band {
	var list []Band
	for b := range bandCount {
		edge, scale := b, 1.0
		if b >= fineBands {
			edge, scale = b-fineBands, 2
		}
		list = append(list, Band{
			Period:     scale * 16 / math.Sqrt(bandEdges[edge]*bandEdges[edge+1]),
			Brightness: s.floor[axisOfBrightness][b][tenth],
			Colour:     s.floor[axisOfColour][b][tenth],
		})
	}
	return list
}

// tones are the floors of brightness over eight classes of brightness with equally many squares.
func (s *spectrum) tones() []Tone {
	const classes, band, least = 8, 1, 16 // the band of periods from four to eight pixels
	order := slices.Clone(s.groups)
	slices.SortFunc(order, func(a, b group) int { return cmp.Compare(a.mean, b.mean) })
	var list []Tone
	for c := range classes {
		part := order[c*len(order)/classes : (c+1)*len(order)/classes]
		if len(part) < least {
			continue
		}
		energies, mean := make([]float32, len(part)), 0.0
		for i, g := range part {
			energies[i] = g.energy[axisOfBrightness][band]
			mean += float64(g.mean) / float64(len(part))
		}
		slices.Sort(energies)
		e := float64(energies[int(quantiles[1]*float64(len(energies)-1)+0.5)])
		list = append(list, Tone{mean, math.Sqrt(e / meanSquareQuantile(quantiles[1], freedom(band)))})
	}
	return list
}
