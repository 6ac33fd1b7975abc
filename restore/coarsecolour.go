package restore

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/reduction"
	"github.com/averaged/imaging/internal/strength"
)

// Cameras smooth colour, so that its noise is left as blotches of ten to thirty pixels, which are
// wider than what a network sees. So after the network the colour of such photographs is denoised
// once more, at a quarter of the resolution:
//
//	Ψ(x) = x − LᵀP(c − PΦ(c + m)),  c = PLx,
//
// L the means of package reduction in units in which ‖L‖ ≤ 1 (and Φ in these units, which keeps its
// constant), P the projection onto colour, and m the brightness of what the network made of the
// photograph, frozen as the radii of Φ are.
//
// Ψ is averaged with the constant α of Φ. First, c ↦ PΦ(c+m) is so on the images P leaves alone:
// with Φ = (1−α)I + αR it is (1−α)c + αPR(c+m), and PR is nonexpansive. Second, let K = PL, ‖K‖ ≤ 1,
// and c ↦ (1−α)c + αSc be such a map. Then Ψ = (1−α)I + αT with Tx = (I − KᵀK)x + KᵀSKx. For the
// difference d of two images and that s of what S makes of them at the end, ‖s‖ ≤ ‖Kd‖,
//
//	‖(I − KᵀK)d + Kᵀs‖² ≤ ‖(I − KᵀK)^½d‖² + ‖s‖² ≤ ‖d‖² − ‖Kd‖² + ‖Kd‖² = ‖d‖²,
//
// because the row [(I − KᵀK)^½ Kᵀ] times its transpose is I, so that its norm is 1.

// coarseColourFactor is how many times smaller an image is whose colour is denoised once more, and
// coarseColourLeast the least side of that.
const coarseColourFactor, coarseColourLeast = 4, 8

// coarseColour is Ψ for one photograph.
type coarseColour struct {
	plane      reduction.Plane
	brightness []float32 // m
	dev        backend.Device
	phi        *fitted
}

// newCoarseColour freezes Ψ for an image that a network has denoised, and noise of standard deviation
// sigma in the smaller one. The caller frees it.
func (c settings) newCoarseColour(ctx context.Context, dev backend.Device, p *Planar, sigma float64) (_ *coarseColour, err error) {
	k := &coarseColour{dev: dev, plane: reduction.NewPlane(p.Height, p.Width, coarseColourFactor)}
	if k.phi, err = c.fit(ctx, dev, p.Channels, sigma); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			k.free()
		}
	}()
	small := k.reduced(p)
	src, err := lend(dev, small.shape(), small.Pix)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	if err := k.phi.freeze(ctx, src, c.strength); err != nil {
		return nil, err
	}
	k.brightness = small.brightness()
	return k, nil
}

func (k *coarseColour) free() { k.phi.free() }

// reduced returns the means of p.
func (k *coarseColour) reduced(p *Planar) *Planar {
	h, w := k.plane.Size()
	small := NewPlanar(p.Channels, h, w)
	var group sync.WaitGroup
	for c := range p.Channels {
		group.Go(func() { k.plane.Means(small.Plane(c), p.Plane(c)) })
	}
	group.Wait()
	return small
}

// apply sets p to Ψ(p).
func (k *coarseColour) apply(ctx context.Context, p *Planar) error {
	small := k.reduced(p)
	small.setBrightness(k.brightness)
	removed := NewPlanar(small.Channels, small.Height, small.Width)
	if err := applyTo(ctx, k.dev, k.phi.Denoiser, removed, small); err != nil {
		return err
	}
	for i, v := range small.Pix {
		removed.Pix[i] = v - removed.Pix[i]
	}
	removed.setBrightness(make([]float32, len(k.brightness)))
	var group sync.WaitGroup
	for c := range p.Channels {
		group.Go(func() { k.plane.AddAdjoint(p.Plane(c), removed.Plane(c), -1) })
	}
	group.Wait()
	return nil
}

// brightness returns the mean of the channels of every pixel.
func (p *Planar) brightness() []float32 {
	mean := make([]float32, p.Width*p.Height)
	for i := range mean {
		sum := 0.0
		for c := range p.Channels {
			sum += float64(p.Plane(c)[i])
		}
		mean[i] = float32(sum / float64(p.Channels))
	}
	return mean
}

// setBrightness moves every pixel along grey, until the mean of its channels is that of mean.
func (p *Planar) setBrightness(mean []float32) {
	for i, v := range p.brightness() {
		for c := range p.Channels {
			p.Plane(c)[i] += mean[i] - v
		}
	}
}

// denoiseCoarseColour sets p, an image that a network has denoised, to Ψ(p).
func (c settings) denoiseCoarseColour(ctx context.Context, dev backend.Device, p *Planar, sigma float64, report *Report) error {
	k, err := c.newCoarseColour(ctx, dev, p, sigma)
	if err != nil {
		return err
	}
	defer k.free()
	if err := k.apply(ctx, p); err != nil {
		return err
	}
	alpha, certified := k.phi.Averagedness()
	report.CoarseColour = sigma
	report.Guide.Looks += k.phi.looks
	report.Averagedness, report.Certified = averaged.Composition(report.Averagedness, alpha), report.Certified && certified
	return nil
}

// coarseColourLevel returns the standard deviation of the noise of colour in an image that is made
// smaller, or 0 where colour needs no more.
func (c settings) coarseColourLevel(p *Planar, report *Report) float64 {
	e := report.Estimate
	if e == nil || e.Kind != CoarseNoise || p.Channels != 3 || report.ColourStretch > 0 || !c.guided() ||
		min(p.Height, p.Width) < coarseColourFactor*coarseColourLeast {
		return 0
	}
	level := strength.CoarseColourLevel(report.Sigma, e.finest(), e.colourSlope())
	if level < leastSigma {
		return 0
	}
	return level
}

// colourSlope is how many times the floor of colour in the band of the longest period is that in the band
// next to six pixels; 0 where the latter is 0.
func (e *NoiseEstimate) colourSlope() float64 {
	if len(e.Bands) == 0 {
		return 0
	}
	longest := slices.MaxFunc(e.Bands, func(a, b NoiseBand) int { return cmp.Compare(a.Period, b.Period) })
	fine := e.Band(6)
	if !(fine.Colour > 0) {
		return 0
	}
	return longest.Colour / fine.Colour
}
