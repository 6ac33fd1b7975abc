package restore

import (
	"context"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/blurdomain"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/srgb"
)

// domain is what was blurred.
type domain uint8

const (
	eitherDomain domain = iota // the photograph tells
	storedSamples
	linearLight
)

// LinearLight says that light was blurred before sRGB's curve made samples of it, as in a camera. It needs a network with a guide.
// The curve stays in the model, which is linearised at the image that a run begins with: what is proven of the run is proven with
// that operator in the place of the blur.
//
// Without LinearLight and StoredSamples the photograph tells, where the denoiser has a guide: a blur leaves minima in the spectrum of
// what it blurs. Nothing is proven of that decision.
func LinearLight() Option { return domainOption("LinearLight", linearLight) }

// StoredSamples says that samples were blurred as they are stored, as in a program. See LinearLight.
func StoredSamples() Option { return domainOption("StoredSamples", storedSamples) }

func domainOption(name string, d domain) Option {
	return option{name, func(c *request) error {
		c.domain = d
		return nil
	}}
}

// showsLight says whether light was blurred in an image, by kernels that are known.
func (c *request) showsLight(ctx context.Context, p *imageplanes.Planes, kernels deblur.Grid, threads int) (bool, error) {
	if c.domain != eitherDomain {
		return c.domain == linearLight, nil
	}
	e, err := blurdomain.Weigh(ctx, p, threads, kernels)
	return err == nil && e[0].IsLight(), err
}

// findBlur calls find with the samples of an image or with the light that they show, and returns what it found in the one that was
// blurred. Where the photograph has to tell, find has the samples first, because their kernels mostly tell even if light was
// blurred. If they do not say that it was the samples, find has the light.
func (c request) findBlur(ctx context.Context, p opened, find func(c request, p *imageplanes.Planes) (*Blur, error)) (*Blur, error) {
	if c.domain == linearLight {
		return c.findInLight(p, find)
	}
	if c.domain == storedSamples {
		return find(c, p.planes)
	}
	first, second := c, c
	first.progress, second.progress = meter.Part(c.progress, 0, .5), meter.Part(c.progress, .5, 1)
	samples, err := find(first, p.planes)
	if err != nil {
		return nil, err
	}
	weigh := func(grids ...deblur.Grid) ([]blurdomain.Evidence, error) {
		return blurdomain.Weigh(ctx, p.planes, c.threads, grids...)
	}
	bySamples, err := weigh(samples.Grid)
	if err != nil {
		return nil, err
	}
	if bySamples[0].IsSamples() {
		return samples.weighed(bySamples[0]), meter.New(c.progress, 0).End()
	}
	light, err := second.findInLight(p, find)
	if err != nil {
		return nil, err
	}
	byLight, err := weigh(light.Grid)
	if err != nil {
		return nil, err
	}
	// In the same squares, which the larger of the kernels wants.
	both, err := weigh(samples.Grid, light.Grid)
	if err != nil {
		return nil, err
	}
	switch {
	case !bySamples[0].IsLight() && !(byLight[0].IsLight() && both[1].Light.Value > both[0].Samples.Value):
		return samples.weighed(bySamples[0]), nil
	case both[1].Light.Value < both[0].Light.Value/2: // the kernel of light has become wrong, and the other one is nearly right
		samples.ofLight()
		return samples.weighed(bySamples[0]), nil
	}
	return light.weighed(byLight[0]), nil
}

// findInLight calls find with the light that the samples show.
func (c request) findInLight(p opened, find func(c request, p *imageplanes.Planes) (*Blur, error)) (*Blur, error) {
	c.lightOf(&p)
	b, err := find(c, p.planes)
	if err != nil {
		return nil, err
	}
	b.ofLight()
	return b, nil
}

// weighed adds a doubt if the spectra of what was blurred are not likelier under the kernel than without it. It returns the blur.
func (b *Blur) weighed(by blurdomain.Evidence) *Blur {
	if k := b.Kernel; k != nil && !b.none() && !by.Explains(b.LinearLight) {
		k.Trust = doubtful
		k.Doubts = append(k.Doubts, Doubt{Text: "the estimated kernel is doubtful: the spectra of parts of the photograph do not show it"})
	}
	return b
}

// ofLight says that the blur is one of light.
func (b *Blur) ofLight() {
	b.LinearLight = true
	if b.Kernel != nil {
		b.Kernel.LinearLight = true
	}
}

// seeLight is lightOf if light was blurred by a kernel that is known, or was estimated before.
func (c *request) seeLight(ctx context.Context, p *opened, kernel deblur.Kernel) error {
	light, err := c.showsLight(ctx, p.planes, deblur.OneKernel(kernel), c.threads)
	if light {
		c.lightOf(p)
	}
	return err
}

// lightOf replaces the samples of an opened image by the light that they show, and the levels of noise by those of light.
func (c *request) lightOf(p *opened) {
	light, squares := *p.planes, 0.0
	light.Pix = make([]float32, len(p.planes.Pix))
	for i, v := range p.planes.Pix {
		l, slope := srgb.LinearWithSlope(float64(v))
		light.Pix[i] = float32(l)
		squares += slope * slope
	}
	slope := math.Sqrt(squares / float64(len(light.Pix)))
	c.sigma, c.compressed.Noise = slope*c.sigma, slope*c.compressed.Noise
	p.planes = &light
}
