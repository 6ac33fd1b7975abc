package restore

import (
	"math"

	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

// Adaptation says whether the strength of a network follows the image as well as its noise, in
// Denoise and in the second run of Deblur. It does by default: an image of much fine detail is
// smoothed less, one of few sharp edges more. A network that is proven never to move two images
// apart cannot make that difference by itself; photographs gain 0.04 to 0.11 dB by it on average.
// Report.Network.Adaptation is the factor, 0.67 to 1.49, on the noise level that the network is used for.
//
// The network "camera" is tried on a part of a photograph first, where its noise is measured and coarse, and "guided" on a
// part of a grey one, where it is measured: what it takes there tells texture, such as that of gravel or of the sea, from
// noise. Report.Network.Adaptation is the factor on the strength then, 0.1 to 2.
//
// What is proven of the network is proven for each strength, and so is what is proven of an
// iteration, during which the strength is fixed. The map from image to result, the choice of the
// strength included, is not the network any more: that needs Adaptation(false), and a noise level that is
// given. Adaptation has no effect on total variation, on a network of which nothing is proven, and, but for that trial, on
// one with a guide, which follows the image by itself.
func Adaptation(on bool) Option {
	return option{"Adaptation", func(c *settings) error {
		c.adapt = on
		return nil
	}}
}

// adapts says whether the strength of the network is to follow the image.
func (c settings) adapts() bool {
	if !c.adapt {
		return false
	}
	card, given, err := c.card()
	return err == nil && given && card.Architecture.Family != weights.FamilyDnCNN && len(card.Architecture.Guide) == 0
}

// denoisingAdaptation returns the factor of Adaptation for an image with noise of standard deviation
// sigma in each channel, through a network that meets it as noise of level (axisNoise).
func (p *Planar) denoisingAdaptation(sigma, level float64) float64 {
	g := p.gradients(strength.GradientSide)
	if g == nil {
		return 1
	}
	return strength.DenoiseFactor(*g, sigma, level, p.Channels, p.saturated())
}

// saturated returns the share of samples that are black or white: noise that is cut off there
// leaves less to remove than its standard deviation says.
func (p *Planar) saturated() float64 {
	n := 0
	for _, v := range p.Pix {
		if v == 0 || v == 1 {
			n++
		}
	}
	return float64(n) / float64(len(p.Pix))
}

// deblurringAdaptation returns the factor of Adaptation for the second run of Deblur, whose first one
// had the result p, for a kernel with the energy ‖k‖².
func (p *Planar) deblurringAdaptation(energy float64) float64 {
	g := p.gradients(1)
	if g == nil || g.Mean == 0 {
		return 1 // there is nothing to restore
	}
	return strength.DeblurFactor(g.Mean, energy)
}

// gradients measures the lengths of the gradients of the mean of the channels, averaged over blocks
// of side×side pixels; nil for an image of less than 2×2 blocks. The median is right to 0.4 %.
func (p *Planar) gradients(side int) *strength.Gradients {
	h, w := p.Height/side, p.Width/side
	if h < 2 || w < 2 {
		return nil
	}
	above, row, sums := make([]float64, w), make([]float64, w), make([]float64, p.Width)
	counts := make([]int, 1<<lengthBits)
	sum := 0.0
	p.blocks(above, sums, 0, side)
	for y := 1; y < h; y++ {
		p.blocks(row, sums, y, side)
		for x, v := range above[:w-1] {
			right, down := above[x+1]-v, row[x]-v
			length := math.Sqrt(right*right + down*down)
			sum += length
			counts[math.Float32bits(float32(length))>>(31-lengthBits)]++
		}
		above, row = row, above
	}
	n := (h - 1) * (w - 1)
	bin := 0
	for below := counts[0]; below <= n/2; below += counts[bin] {
		bin++
	}
	return &strength.Gradients{Mean: sum / float64(n), Median: float64(math.Float32frombits(uint32(bin) << (31 - lengthBits)))}
}

// lengthBits are the leading bits of a positive float32 that lengths are counted by: all of its
// exponent, and eight of its mantissa.
const lengthBits = 16

// blocks sets to to the means of row y of blocks; sums is scratch for a row of the image.
func (p *Planar) blocks(to, sums []float64, y, side int) {
	clear(sums)
	for c := range p.Channels {
		for r := y * side; r < (y+1)*side; r++ {
			for x, v := range p.Plane(c)[r*p.Width:][:p.Width] {
				sums[x] += float64(v)
			}
		}
	}
	scale := 1 / float64(p.Channels*side*side)
	for x := range to {
		sum := 0.0
		for _, v := range sums[x*side:][:side] {
			sum += v
		}
		to[x] = scale * sum
	}
}
