package restore

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/noiselevel"
	"github.com/averaged/imaging/internal/strength"
)

// NoiseKind says what noise looks like.
type NoiseKind int

const (
	// NoNoise is noise too weak to be told from rounding to 8 bits.
	NoNoise NoiseKind = iota
	// WhiteNoise is as strong at all spatial frequencies and in all colours.
	WhiteNoise
	// CoarseNoise is stronger at low frequencies than at high ones, or stronger in brightness than in
	// colour, as in photographs that a camera has developed, and in compressed ones.
	CoarseNoise
)

// String returns a word: "none", "white" or "coarse".
func (k NoiseKind) String() string {
	switch k {
	case NoNoise:
		return "none"
	case WhiteNoise:
		return "white"
	}
	return "coarse"
}

// NoiseEstimate is what an image tells of its noise. Lengths are in pixels, and standard deviations
// in units of the full intensity range.
type NoiseEstimate struct {
	Kind NoiseKind
	// Sigma is the level: the standard deviation of the white noise that a denoiser should be told
	// of. Of white noise it is its own, the root mean square over the channels; of coarse noise two
	// to three times as much as its root mean square.
	Sigma float64
	// Low and High enclose the level in three images of five. They are Sigma where it is measured
	// as white noise.
	Low, High float64
	// PerChannel is the standard deviation of white noise in each channel, which is less certain.
	PerChannel []float64
	// Bands are what the calmest tenth of the image shows at each spatial frequency, from fine to
	// coarse within two resolutions, and Tones what it shows at each brightness; nil of an image
	// that is too small. They may hold texture besides noise.
	Bands []NoiseBand
	Tones []NoiseTone
	// Reliable says that there is little doubt. Otherwise Note says in one sentence what is
	// doubtful, and what may help.
	Reliable bool
	Note     string
	// Trial is about the trial of a network (Trial); nil where none was made. Denoise makes one unless it is given.
	Trial *TrialReport
}

// NoiseBand is what varies in a band of spatial frequencies, as the standard deviation that white
// noise would have there.
type NoiseBand struct {
	Period     float64 // of a wave in the middle of the band
	Brightness float64 // along (1,1,1)/√3
	Colour     float64 // along the two axes orthogonal to it; 0 of grey images
}

// finest is the floor of brightness in the band of the shortest period; 0 without bands.
func (e *NoiseEstimate) finest() float64 {
	if len(e.Bands) == 0 {
		return 0
	}
	return slices.MinFunc(e.Bands, func(a, b NoiseBand) int { return cmp.Compare(a.Period, b.Period) }).Brightness
}

// Band returns the band whose period is nearest to one in pixels; of no noise without Bands.
func (e *NoiseEstimate) Band(period float64) NoiseBand {
	if len(e.Bands) == 0 {
		return NoiseBand{}
	}
	return slices.MinFunc(e.Bands, func(a, b NoiseBand) int {
		return cmp.Compare(math.Abs(math.Log(a.Period/period)), math.Abs(math.Log(b.Period/period)))
	})
}

// NoiseTone is what varies in areas of about one brightness, at periods of four to eight pixels.
type NoiseTone struct {
	Mean  float64 // brightness
	Sigma float64
}

// EstimateNoise measures the noise of an image. Alpha is not looked at. Noise of cameras is told
// from texture by a rule that was learned from many photographs with and without noise, so it can
// be wrong: Low, High and Reliable say how sure it is.
func EstimateNoise(img image.Image) (NoiseEstimate, error) {
	p, err := open(img)
	if err != nil {
		return NoiseEstimate{}, err
	}
	e, err := p.planar.noise()
	if err != nil {
		return NoiseEstimate{}, err
	}
	if p.copies > 0 {
		e.PerChannel = slices.Repeat(e.PerChannel, p.copies)
	}
	return e, nil
}

// noise is EstimateNoise.
func (p *Planar) noise() (NoiseEstimate, error) {
	e, _, err := p.noiseProfile(noiselevel.EstimateProfile)
	return e, err
}

// noiseProfile is EstimateNoise by an estimate of noiselevel, and what it is made of.
func (p *Planar) noiseProfile(
	estimate func(pix []float32, channels, height, width int) (noiselevel.Profile, error),
) (e NoiseEstimate, m noiselevel.Profile, err error) {
	m, err = estimate(p.Pix, p.Channels, p.Height, p.Width)
	if err != nil {
		return NoiseEstimate{}, m, fmt.Errorf("restore: noise level: %w", err)
	}
	e = NoiseEstimate{
		Sigma: m.Sigma, Low: m.Low, High: m.High, PerChannel: m.PerChannel, Reliable: m.Reliable, Note: m.Note,
		Kind: map[noiselevel.Kind]NoiseKind{noiselevel.None: NoNoise, noiselevel.White: WhiteNoise, noiselevel.Coarse: CoarseNoise}[m.Kind],
	}
	for _, b := range m.Bands {
		e.Bands = append(e.Bands, NoiseBand(b))
	}
	for _, t := range m.Tones {
		e.Tones = append(e.Tones, NoiseTone(t))
	}
	return e, m, nil
}

// whiteNoise measures the part of the noise that is white: what is left to see in a photograph that
// is blurred, whose own low frequencies look like coarse noise.
func (p *Planar) whiteNoise() (NoiseEstimate, error) {
	m, err := noiselevel.Estimate(p.Pix, p.Channels, p.Height, p.Width)
	if err != nil {
		return NoiseEstimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := NoiseEstimate{
		Kind: WhiteNoise, Sigma: m.Sigma, Low: m.Sigma, High: m.Sigma, PerChannel: m.PerChannel,
		Reliable: m.Reliable, Note: m.Note,
	}
	if m.Sigma == 0 {
		e.Kind = NoNoise
	}
	return e, nil
}

// blurredNoise is the noise of what is blurred or coarsely sampled: whiteNoise, but where JPEG has left its
// blocks, and where there is more than what is blurred can seem to be, it is the profile's level if that is
// higher. Cameras and compression take the white part of the noise away, and compression adds noise of its
// own.
func (p *Planar) blurredNoise() (NoiseEstimate, error) {
	e, _, err := p.blurredProfile()
	return e, err
}

// shakenNoise is blurredNoise for deblurring, which takes coarse noise for more (strength.ShakenLevel).
func (p *Planar) shakenNoise() (NoiseEstimate, error) {
	e, learned, err := p.blurredProfile()
	if err != nil || e.Kind != CoarseNoise {
		return e, err
	}
	factor := strength.ShakenLevel(e.Sigma, learned) / e.Sigma
	e.Sigma, e.Low, e.High = factor*e.Sigma, factor*e.Low, factor*e.High
	return e, nil
}

// blurredProfile is blurredNoise, and what the learned rule says by itself.
func (p *Planar) blurredProfile() (e NoiseEstimate, learned float64, err error) {
	white, err := p.whiteNoise()
	if err != nil {
		return NoiseEstimate{}, 0, err
	}
	all, m, err := p.noiseProfile(noiselevel.EstimateBlurredProfile)
	if err != nil {
		return NoiseEstimate{}, 0, err
	}
	seen := func() bool {
		return strength.SeenInBlur(all.Sigma, m.Even) || noiselevel.Blocked(p.Pix, p.Channels, p.Height, p.Width)
	}
	if all.Kind != CoarseNoise || all.Sigma <= white.Sigma || !seen() {
		return white, m.Learned, nil
	}
	return all, m.Learned, nil
}
