// Package rawdenoise removes noise from the raw image of a photograph, where it is as the sensor made
// it: Poisson and Gaussian, independent in every pixel.
//
// The noise is measured in each colour (package sensornoise), and made white with a standard deviation
// of 1 (package anscombe). A mosaic is taken apart into four planes of half the resolution, one of red,
// two of green and one of blue, and a denoiser for grey sees each of them. A network for colour that has
// learned from developed photographs does worse on them: their white balance is none, and their pixels are
// not at the same places (RATIONALE.md has figures).
package rawdenoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/anscombe"
	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/internal/sensornoise"
)

// Picture is what a denoiser gets: one plane of grey, or three of red, green and blue, each of Height rows
// of Width samples. Black is about 0 and white at most about 1.
type Picture struct {
	Width, Height int
	Planes        [][]float32
}

// Denoiser removes white Gaussian noise of a standard deviation from a picture, in place.
type Denoiser func(ctx context.Context, p Picture, sigma float64) error

// Report says what was done.
type Report struct {
	// Noise is the variance of the noise of red, green and blue, or of each sample of LinearRaw,
	// for light from 0 (black) to 1 (white).
	Noise []sensornoise.Line
	// Claimed says that the noise could not be measured, and is what the camera claims
	// (NoiseProfile).
	Claimed bool
}

// ErrNoNoise: the noise can be neither measured, in an image so small or so clipped, nor read from
// the file.
var ErrNoNoise = errors.New("the noise cannot be measured in this raw image, and the file does not say what it is")

// Denoise returns the samples of m with less noise, for m.Write. The denoiser is told strength times the
// noise; with a strength of 0, and where there is no noise, they are those of m. Means over some 33×33
// samples of a colour are kept. Pixels in the margins and
// ones that are saturated keep their samples: what is white stays white for raw developers.
//
// Errors are ErrNoNoise, those of the denoiser, or say that strength is none.
func Denoise(ctx context.Context, m *dng.Raw, strength float64, denoise Denoiser) ([]uint16, Report, error) {
	if !(strength >= 0) || math.IsInf(strength, 0) {
		return nil, Report{}, fmt.Errorf("a strength of %v, want a number from 0", strength)
	}
	planes := split(m)
	report, err := measure(m, planes)
	if err != nil {
		return nil, Report{}, err
	}
	out := slices.Clone(m.Pix)
	noiseless := !slices.ContainsFunc(report.Noise, func(l sensornoise.Line) bool { return l.At(1) > 0 })
	if strength == 0 || noiseless {
		return out, report, nil
	}
	transforms, err := transformsOf(report.Noise)
	if err != nil {
		return nil, Report{}, err
	}
	// All planes have noise of 1 after the transform, and share the scale that brings them to [0,1].
	span := 0.
	for _, t := range transforms {
		span = max(span, t.Forward(1)-t.Forward(0))
	}
	measured := make([][]float32, len(planes))
	for k, p := range planes {
		t := transforms[p.colour]
		measured[k] = slices.Clone(p.Pix)
		for i, v := range p.Pix {
			p.Pix[i] = float32((t.Forward(float64(v)) - t.Forward(0)) / span)
		}
	}
	if err := denoisePlanes(ctx, m, planes, strength/span, denoise); err != nil {
		return nil, Report{}, err
	}
	for k, p := range planes {
		t := transforms[p.colour]
		for i, v := range p.Pix {
			p.Pix[i] = float32(t.Inverse(float64(v)*span + t.Forward(0)))
		}
		keepMeans(p.Pix, measured[k], p.Width)
		for i, v := range p.Pix {
			p.store(m, out, i, float64(v))
		}
	}
	return out, report, nil
}

// plane is the samples of one colour in the active area, as light from 0 to 1.
type plane struct {
	sensornoise.Plane
	colour int // of a mosaic; else the sample
	// The sample in column c of row r is that of the pixel (x + c·step, y + r·step).
	x, y, step, sample int
}

// split takes an image apart: the four planes of a mosaic in the order of the pattern, or one plane for
// each sample. Where the active area has an odd side, the last samples of a plane stand there twice.
func split(m *dng.Raw) []plane {
	var planes []plane
	a := m.Active
	if !m.Mosaic {
		for s := range m.Samples {
			planes = append(planes, newPlane(m, plane{colour: s, x: a.Min.X, y: a.Min.Y, step: 1, sample: s}))
		}
		return planes
	}
	for y := range 2 {
		for x := range 2 {
			p := plane{x: a.Min.X + x, y: a.Min.Y + y, step: 2}
			p.colour = int(m.Colour(p.x, p.y))
			planes = append(planes, newPlane(m, p))
		}
	}
	return planes
}

func newPlane(m *dng.Raw, p plane) plane {
	a := m.Active
	p.Width, p.Height = (a.Dx()+p.step-1)/p.step, (a.Dy()+p.step-1)/p.step
	p.Pix = make([]float32, p.Width*p.Height)
	for r := range p.Height {
		for c := range p.Width {
			// Of an area of one row or column there is no sample of some colours: the nearest one stands for it.
			x, y := p.x+c*p.step, p.y+r*p.step
			for x >= a.Max.X {
				x -= p.step
			}
			for y >= a.Max.Y {
				y -= p.step
			}
			x, y = max(x, a.Min.X), max(y, a.Min.Y)
			p.Pix[r*p.Width+c] = float32(p.light(m, x, y))
		}
	}
	return p
}

// light returns the light of a pixel: 0 is black and 1 is white.
func (p plane) light(m *dng.Raw, x, y int) float64 {
	v := m.Pix[(y*m.Width+x)*m.Samples+p.sample]
	return (m.Levels.Linear(v) - m.Black(x, y, p.sample)) / p.span(m)
}

// span is white less black. Of black levels that differ it is that of the first one.
func (p plane) span(m *dng.Raw) float64 {
	return m.Levels.White[p.sample] - m.Black(m.Active.Min.X, m.Active.Min.Y, p.sample)
}

// store writes the light of sample i, unless it has no pixel, or one that is saturated.
func (p plane) store(m *dng.Raw, pix []uint16, i int, light float64) {
	x, y := p.x+i%p.Width*p.step, p.y+i/p.Width*p.step
	if x >= m.Active.Max.X || y >= m.Active.Max.Y || p.light(m, x, y) >= 1 {
		return
	}
	pix[(y*m.Width+x)*m.Samples+p.sample] = m.Levels.Stored(light*p.span(m)+m.Black(x, y, p.sample), m.Top)
}

// measure finds the noise of each colour.
func measure(m *dng.Raw, planes []plane) (Report, error) {
	colours := m.Samples
	if m.Mosaic {
		colours = 3
	}
	var r Report
	for c := range colours {
		var same []sensornoise.Plane
		low, step := float32(math.Inf(1)), 0.
		for _, p := range planes {
			if p.colour == c {
				same = append(same, p.Plane)
				low = min(low, float32((m.Levels.Linear(0)-m.Black(p.x, p.y, p.sample))/p.span(m)))
				step = 1 / p.span(m)
			}
		}
		line, err := sensornoise.Estimate(low, 1, same...)
		if err != nil {
			return claimed(m, colours)
		}
		// Of a tenth of a step of the sensor's numbers there is none that could be seen.
		if line.At(1) < step*step/100 {
			line = sensornoise.Line{}
		}
		r.Noise = append(r.Noise, line)
	}
	return r, nil
}

// claimed returns what the camera says of the noise.
func claimed(m *dng.Raw, colours int) (Report, error) {
	r := Report{Claimed: true}
	for c := range colours {
		n := len(m.Noise)
		if n == 0 || n != 1 && n < colours {
			return Report{}, ErrNoNoise
		}
		v := m.Noise[min(c, n-1)]
		if !(v[0] >= 0 && v[1] >= 0) {
			return Report{}, ErrNoNoise
		}
		r.Noise = append(r.Noise, sensornoise.Line{Gain: v[0], Offset: v[1]})
	}
	return r, nil
}

func transformsOf(noise []sensornoise.Line) ([]*anscombe.Transform, error) {
	// A colour without noise has a thousandth of the strongest one's.
	most := 0.
	for _, l := range noise {
		most = max(most, l.At(1))
	}
	var transforms []*anscombe.Transform
	for _, l := range noise {
		if l.Gain+l.Offset == 0 {
			l.Offset = 1e-6 * most
		}
		t, err := anscombe.New(l.Gain, l.Offset)
		if err != nil {
			return nil, err
		}
		transforms = append(transforms, t)
	}
	return transforms, nil
}

// denoisePlanes gives the planes to the denoiser.
func denoisePlanes(ctx context.Context, m *dng.Raw, planes []plane, sigma float64, denoise Denoiser) error {
	picture := func(p ...[]float32) Picture { return Picture{planes[0].Width, planes[0].Height, p} }
	if !m.Mosaic && len(planes) == 3 {
		return denoise(ctx, picture(planes[0].Pix, planes[1].Pix, planes[2].Pix), sigma)
	}
	for _, p := range planes {
		if err := denoise(ctx, picture(p.Pix), sigma); err != nil {
			return err
		}
	}
	return nil
}
