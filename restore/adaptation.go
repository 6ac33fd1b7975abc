package restore

import (
	"math"

	"github.com/averaged/imaging/denoise"
)

// Adapt says whether the strength of a network follows the image as well as its noise, in
// Denoise and in the second run of Deblur. It does by default: an image of much fine detail is
// smoothed less, one of few sharp edges more. A network that is proven never to move two images
// apart cannot make that difference by itself; photographs gain 0.06 to 0.11 dB by it on average.
// Report.Adaptation is the factor, 0.67 to 1.49, on the noise level that the network is used for.
//
// What is proven of the network is proven for each strength, and so is what is proven of an
// iteration, during which the strength is fixed. The map from image to result, the choice of the
// strength included, is not the network any more: that needs Adapt(false), and a noise level that is
// given. Adapt has no effect on total variation, on a network of which nothing is proven, and in
// Inpaint and Upscale.
func Adapt(on bool) Option {
	return func(c *settings) error {
		c.rigid = !on
		return nil
	}
}

// adapts says whether the strength of the network is to follow the image.
func (c settings) adapts() bool {
	if c.rigid {
		return false
	}
	card, given, err := c.card()
	return err == nil && given && card.Architecture.Family != denoise.FamilyDnCNN
}

// denoisingAdaptation returns the factor of Adapt for an image with noise of the given standard
// deviation. It is fitted to 67 photographs of BSDS500's train at seven levels of noise from 5.1 to
// 76.5 of 255, by the least loss of PSNR with the network general: nine tenths of what the best
// factor for every image gains, it gains as well, on other photographs, on grey ones, and with
// other networks (RATIONALE.md).
func (p *Planar) denoisingAdaptation(sigma float64) float64 {
	g := p.gradients(1, 4)
	if g == nil {
		return 1
	}
	fine, _ := g[0].overNoise(sigma)
	coarse, length := g[1].overNoise(sigma)
	return adaptation(-0.60 - 0.17*math.Log(sigma) - 0.26*math.Log(fine) + 0.52*math.Log(coarse) - 0.47*math.Log(length))
}

// deblurringAdaptation returns the factor of Adapt for the second run of Deblur, whose first one
// had the result p, for a kernel with the energy ‖k‖². It is fitted to 40 photographs of train, each
// under another camera shake, and 13 under eight of them, at noise of 2.55 to 17.85 of 255, with the
// network deblur (RATIONALE.md).
func (p *Planar) deblurringAdaptation(energy float64) float64 {
	g := p.gradients(1)
	if g == nil {
		return 1
	}
	_, length := g[0].plain()
	if length == 0 {
		return 1 // nothing to restore
	}
	return adaptation(0.22 + 0.13*math.Log(min(max(energy, leastEnergy), mostEnergy)) - 0.053*math.Log(length))
}

// The energies of the shakes; kernels beyond them are taken for the nearest.
const (
	leastEnergy = 0.02
	mostEnergy  = 0.07
)

// adaptation keeps a factor that is given by its logarithm within its limits. Best factors of
// single photographs were 0.6 to 1.5.
func adaptation(log float64) float64 {
	const most = 0.4
	return math.Exp(min(max(log, -most), most))
}

// gradients are the lengths of an image's gradients, averaged over its channels and over blocks.
type gradients struct {
	side             int       // of a block
	samples          int       // in a block, of all channels
	blocks, last     []float64 // a row of blocks, and the one before
	squares, lengths float64   // sums, of the gradients of sums
	count            int
}

// gradients measures the gradients of the means of blocks of each of the sides, nil for an image
// that has less than 2×2 of the largest.
func (p *Planar) gradients(sides ...int) []*gradients {
	all := make([]*gradients, len(sides))
	for i, side := range sides {
		if min(p.Width, p.Height) < 2*side {
			return nil
		}
		all[i] = &gradients{side: side, samples: p.Channels * side * side, blocks: make([]float64, p.Width/side)}
	}
	row := make([]float64, p.Width)
	for y := range p.Height {
		clear(row)
		for c := range p.Channels {
			for x, v := range p.Plane(c)[y*p.Width : (y+1)*p.Width] {
				row[x] += float64(v)
			}
		}
		for _, g := range all {
			g.add(y, row)
		}
	}
	return all
}

// add takes row y of the image, after the ones above it.
func (g *gradients) add(y int, row []float64) {
	for x := range g.blocks {
		for _, v := range row[g.side*x:][:g.side] {
			g.blocks[x] += v
		}
	}
	if y%g.side < g.side-1 {
		return
	}
	if g.last == nil {
		g.last = make([]float64, len(g.blocks))
	} else {
		for x, v := range g.last[:len(g.last)-1] {
			right, down := g.last[x+1]-v, g.blocks[x]-v
			square := right*right + down*down
			g.squares += square
			g.lengths += math.Sqrt(square)
		}
		g.count += len(g.last) - 1
	}
	g.last, g.blocks = g.blocks, g.last
	clear(g.blocks)
}

// plain returns the root mean square and the mean of the lengths.
func (g *gradients) plain() (root, mean float64) {
	n, samples := float64(g.count), float64(g.samples)
	return math.Sqrt(g.squares/n) / samples, g.lengths / n / samples
}

// overNoise returns the same without the share of noise of standard deviation sigma, and in units
// of it.
func (g *gradients) overNoise(sigma float64) (root, mean float64) {
	root, mean = g.plain()
	root, mean = root/sigma, mean/sigma
	// A gradient of noise of variance v has components of variance 2v, and its length
	// Rayleigh's distribution, whose mean is √(πv).
	v := 1 / float64(g.samples)
	return math.Sqrt(max(root*root-4*v, leastSquare*4*v)), math.Sqrt(max(mean*mean-math.Pi*v, leastMeanSquare*math.Pi*v))
}

// What is left of gradients without the noise is taken to be no less than these shares of
// the noise's, as with less the difference says nothing.
const (
	leastSquare     = 0.02
	leastMeanSquare = 0.001
)
