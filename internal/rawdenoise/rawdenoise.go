// Package rawdenoise removes noise from the image of a raw photograph, where it is as the sensor made
// it: Poisson and Gaussian, independent in every pixel.
//
// The noise is measured in the image (package sensornoise), and made white with a standard deviation
// of 1 (package anscombe). There the colours are shifted to the same mean, so that an average photograph is grey, as the
// developed ones are that denoisers have learned from.
//
// The colours of a mosaic are brought to the same mean by gains, so that demosaicking finds edges. It is demosaicked along them (Hamilton
// and Adams), denoised at its full size, and looked at through the filters again. The denoiser can know where they are: the picture
// begins with a red one (View).
package rawdenoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/anscombe"
	"github.com/averaged/imaging/internal/sensornoise"
	"github.com/averaged/imaging/raw"
)

// Picture is what a denoiser gets: one plane of grey, or three of red, green and blue, each of Height rows
// of Width samples. Black is about 0 and white about 1.
type Picture struct {
	Width, Height, Channels int
	Pix                     []float32
}

// Denoiser returns the samples of a picture, which it may overwrite, without noise of a level: of a mosaic that of View.Sigma, else
// the standard deviation of white noise.
type Denoiser func(ctx context.Context, p Picture, sigma float64) ([]float32, error)

// Report says what was done.
type Report struct {
	// Noise is the variance of the noise of red, green and blue, or of each sample.
	Noise []raw.Noise
	// Claimed says that the noise could not be measured, and is what the camera claims.
	Claimed bool
	// Unchanged says that there is no noise.
	Unchanged bool
	// Hot is how many hot and dead pixels were filled.
	Hot int
}

// ErrNoNoise: the noise can be neither measured, in an image so small or so clipped, nor read from
// the file.
var ErrNoNoise = errors.New("the noise cannot be measured in this raw image, and the file does not say what it is")

// Denoise returns m with less noise. again returns the same image as m: the samples of a mosaic are dropped while the denoiser
// computes. Hot and dead pixels are filled. Means over some 33×33 samples of a colour are kept. Other pixels
// that are saturated keep their light: what is white stays white for raw developers. Without noise the samples are those of m.
//
// Errors are ErrNoNoise, those of the denoiser, or say what is wrong with the image.
func Denoise(ctx context.Context, m *raw.Image, again func() *raw.Image, d Denoiser) (*raw.Image, Report, error) {
	return denoise(m, func(s *stabilised) error {
		if !s.Mosaic {
			return s.denoiseSamples(ctx, d)
		}
		s.Pix = nil
		err := s.denoiseMosaic(ctx, d)
		s.Pix = again().Pix
		return err
	})
}

// DenoisePlanes is Denoise by a denoiser for grey, which gets the four planes of a mosaic, or each sample, one after another. It is
// what Denoise is to be better than.
func DenoisePlanes(ctx context.Context, m *raw.Image, d Denoiser) (*raw.Image, Report, error) {
	return denoise(m, func(s *stabilised) error {
		for _, p := range planesOf(m) {
			pix, err := d(ctx, Picture{p.width, p.height, 1, p.of(s.pix)}, 1/s.span)
			if err != nil {
				return err
			}
			p.put(s.pix, pix)
		}
		return nil
	})
}

// denoise transforms an image, and back.
func denoise(image *raw.Image, between func(*stabilised) error) (*raw.Image, Report, error) {
	if err := check(image); err != nil {
		return nil, Report{}, err
	}
	m := new(raw.Image)
	*m = *image // its samples may be dropped, and those of the caller stay
	report, white, err := measure(m)
	if err != nil {
		return nil, Report{}, err
	}
	if report.Unchanged = !slices.ContainsFunc(report.Noise, func(l raw.Noise) bool { return l.At(1) > 0 }); report.Unchanged {
		out := *m
		out.Pix = slices.Clone(m.Pix)
		return &out, report, nil
	}
	s, err := stabilise(m, report.Noise)
	if err != nil {
		return nil, Report{}, err
	}
	report.Hot = len(s.hot)
	if err := between(s); err != nil {
		return nil, Report{}, err
	}
	out := *m
	out.Pix = s.light()
	for i, p := range planesOf(m) {
		light, measured := p.of(out.Pix), s.measured(p)
		keepMeans(light, measured, p.width, white[i])
		for k, v := range measured {
			if v >= white[i] {
				light[k] = v
			}
		}
		p.put(out.Pix, light)
	}
	return &out, report, nil
}

func check(m *raw.Image) error {
	if err := m.Check(); err != nil {
		return err
	}
	if m.Mosaic && (m.Width < 2 || m.Height < 2) {
		return fmt.Errorf("a mosaic of %d×%d pixels, at least 2×2 is needed", m.Width, m.Height)
	}
	return nil
}

// plane is where the samples of one colour are in an image, on a lattice.
type plane struct {
	colour             int // of a mosaic; else the sample
	width, height      int
	first, right, down int // the first sample, and the distances to the next ones in Pix
}

// planesOf are the four planes of a mosaic in the order of the pattern, or one for each sample. One of a mosaic of odd size has a
// row or a column less.
func planesOf(m *raw.Image) []plane {
	var planes []plane
	if !m.Mosaic {
		for s := range m.Samples {
			planes = append(planes, plane{s, m.Width, m.Height, s, m.Samples, m.Samples * m.Width})
		}
		return planes
	}
	for y := range 2 {
		for x := range 2 {
			planes = append(planes, plane{int(m.Colour(x, y)), (m.Width - x + 1) / 2, (m.Height - y + 1) / 2, y*m.Width + x, 2, 2 * m.Width})
		}
	}
	return planes
}

// of returns the samples of the plane, row by row.
func (p plane) of(pix []float32) []float32 {
	out := make([]float32, 0, p.width*p.height)
	for y := range p.height {
		for x := range p.width {
			out = append(out, pix[p.first+y*p.down+x*p.right])
		}
	}
	return out
}

// put is the inverse of of.
func (p plane) put(pix, samples []float32) {
	for i, v := range samples {
		pix[p.first+i/p.width*p.down+i%p.width*p.right] = v
	}
}

// colours is how many colours have noise of their own.
func colours(m *raw.Image) int {
	if m.Mosaic {
		return 3
	}
	return m.Samples
}

// measure finds the noise. A sensor amplifies all colours of a mosaic alike, so that their noise follows the same line, and
// there are four times as many places to find it in; other samples have lines of their own. white is the light that saturates
// each of the planes.
func measure(m *raw.Image) (r Report, white []float32, err error) {
	lines := make([][]sensornoise.Plane, colours(m))
	for _, p := range planesOf(m) {
		line := p.colour
		if m.Mosaic {
			line = 0
		}
		plane := sensornoise.Plane{Width: p.width, Height: p.height, Pix: p.of(m.Pix)}
		plane.FindRange(1)
		white = append(white, plane.High)
		lines[line] = append(lines[line], plane)
	}
	if m.Mosaic {
		lines = lines[:1]
	}
	for _, planes := range lines {
		line, err := sensornoise.Estimate(m.Low, 1, m.Step, planes...)
		if err != nil { // A night without light: what black leaves of the noise counts.
			line, err = sensornoise.Estimate(float32(math.Inf(-1)), 1, m.Step, planes...)
		}
		if err != nil {
			r, err = claimed(m)
			return r, white, err
		}
		r.Noise = append(r.Noise, raw.Noise(line))
	}
	if m.Mosaic {
		r.Noise = slices.Repeat(r.Noise, colours(m))
	}
	return r, white, nil
}

// claimed returns what the camera says of the noise.
func claimed(m *raw.Image) (Report, error) {
	r := Report{Claimed: true}
	for c := range colours(m) {
		n := len(m.Noise)
		if n == 0 || n != 1 && n < colours(m) {
			return Report{}, ErrNoNoise
		}
		v := m.Noise[min(c, n-1)]
		if !(v.Gain >= 0 && v.Offset >= 0) || math.IsInf(v.At(1), 1) {
			return Report{}, ErrNoNoise
		}
		r.Noise = append(r.Noise, v)
	}
	return r, nil
}

// stabilised is an image whose noise is white, of the same strength everywhere.
type stabilised struct {
	*raw.Image // that it is of
	transforms []*anscombe.Transform
	// span brings all to about [0,1]; the noise has a standard deviation of 1/span. shift is added to each colour, and
	// gives it the mean.
	span  float64
	shift []float32
	mean  float32
	pix   []float32
	hot   []hotPixel // in the order of Pix
}

// stabilise transforms an image.
func stabilise(m *raw.Image, noise []raw.Noise) (*stabilised, error) {
	// A colour without noise has a thousandth of the strongest one's.
	most := 0.
	for _, l := range noise {
		most = max(most, l.At(1))
	}
	var transforms []*anscombe.Transform
	for i, l := range noise {
		if i > 0 && l == noise[i-1] { // as in a mosaic
			transforms = append(transforms, transforms[i-1])
			continue
		}
		if l.Gain+l.Offset == 0 {
			l.Offset = 1e-6 * most
		}
		t, err := anscombe.New(l.Gain, l.Offset)
		if err != nil {
			return nil, err
		}
		transforms = append(transforms, t)
	}
	s := newStabilised(m, transforms)
	if s.hot = s.findHot(); len(s.hot) > 0 {
		s.transform()
	}
	return s, nil
}

// newStabilised transforms an image by the transforms of its colours, hot pixels too.
func newStabilised(m *raw.Image, transforms []*anscombe.Transform) *stabilised {
	s := &stabilised{Image: m, transforms: transforms, shift: make([]float32, len(transforms))}
	for _, t := range transforms {
		s.span = max(s.span, t.Forward(1)-t.Forward(0))
	}
	s.transform()
	return s
}

// measured returns the light of a plane as it was measured, hot pixels filled.
func (s *stabilised) measured(p plane) []float32 {
	samples := p.of(s.Image.Pix)
	for _, k := range s.hot {
		y, x := k.at/s.Width-p.first/s.Width, k.at%s.Width-p.first%s.Width
		if y%2 == 0 && x%2 == 0 { // of a mosaic: others have none
			samples[y/2*p.width+x/2] = k.light
		}
	}
	return samples
}

// transform sets pix to the transformed samples, and shifts each colour to the same mean.
func (s *stabilised) transform() {
	s.pix = make([]float32, len(s.Image.Pix))
	sums, counts := make([]float64, len(s.shift)), make([]float64, len(s.shift))
	s.eachColour(func(c int, p plane) {
		t := s.transforms[c]
		dark := t.Forward(0)
		samples := s.measured(p)
		for i, v := range samples {
			samples[i] = float32((t.Forward(float64(v)) - dark) / s.span)
			sums[c] += float64(samples[i])
		}
		counts[c] += float64(len(samples))
		p.put(s.pix, samples)
	})
	mean := 0. // of the colours' means
	for c := range sums {
		mean += sums[c] / counts[c] / float64(len(sums))
	}
	s.mean = float32(mean)
	for c := range sums {
		s.shift[c] = float32(mean - sums[c]/counts[c])
	}
	s.eachColour(func(c int, p plane) {
		samples := p.of(s.pix)
		for i := range samples {
			samples[i] += s.shift[c]
		}
		p.put(s.pix, samples)
	})
}

func (s *stabilised) eachColour(do func(colour int, p plane)) {
	for _, p := range planesOf(s.Image) {
		do(p.colour, p)
	}
}

// light undoes stabilise, without bias for what a denoiser has averaged. pix is not needed any more.
func (s *stabilised) light() []float32 {
	s.eachColour(func(c int, p plane) {
		t := s.transforms[c]
		dark := t.Forward(0)
		samples := p.of(s.pix)
		for i, v := range samples {
			samples[i] = float32(t.Inverse(float64(v-s.shift[c])*s.span + dark))
		}
		p.put(s.pix, samples)
	})
	return s.pix
}

// denoiseSamples denoises an image without a mosaic: three samples as red, green and blue, others as pictures of grey.
func (s *stabilised) denoiseSamples(ctx context.Context, denoise Denoiser) error {
	planes := planesOf(s.Image)
	together := 1
	if len(planes) == 3 {
		together = 3
	}
	for ; len(planes) > 0; planes = planes[together:] {
		p := Picture{Width: s.Width, Height: s.Height, Channels: together}
		for _, q := range planes[:together] {
			p.Pix = append(p.Pix, q.of(s.pix)...)
		}
		pix, err := denoise(ctx, p, 1/s.span)
		if err != nil {
			return err
		}
		for k, q := range planes[:together] {
			n := q.width * q.height
			q.put(s.pix, pix[k*n:(k+1)*n])
		}
	}
	return nil
}
