package train

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/symmetry"
)

// batch makes the crops and the noise of one pass through a network.
type batch struct {
	config  Config
	clean   backend.Buffer
	noisy   backend.Buffer
	samples []float32 // of clean, on the host
	noise   []float32 // of noise and then of noisy, on the host
	sigmas  []float64
	cut     []float32 // the channels of each crop before it is turned, and what is around it
	ahead   *prints   // of a Camera's next iteration, or nil
}

func newBatch(q *devicequeue.Queue, memory *devicequeue.Pool, c Config) *batch {
	s := c.batchShape()
	side := c.Crop
	if c.Saved > 0 {
		side += savedMargin
	}
	return &batch{
		config: c,
		clean:  memory.Take(q, s), noisy: memory.Take(q, s),
		samples: make([]float32, s.Len()), noise: make([]float32, s.Len()),
		sigmas: make([]float64, c.Batch), cut: make([]float32, s.N*s.C*side*side),
	}
}

func (c Config) batchShape() backend.Shape {
	return backend.Shape{N: c.Batch, C: c.Channels, H: c.Crop, W: c.Crop}
}

// level returns the noise level of all crops of an iteration, where they have one.
func (c Config) level(g *generator) float64 {
	low, high := math.Sqrt(c.SigmaMin), math.Sqrt(c.SigmaMax)
	root := low + (high-low)*g.uniform()
	return root * root
}

// draw fills clean with crops of pictures and noisy with the same crops and Gaussian
// noise, of standard deviation sigma, or, where that is 0, one for each crop.
func (b *batch) draw(q *devicequeue.Queue, set *Pictures, g *generator, sigma float64) {
	// What is random comes first, in order, so that the crops can be made beside one another.
	drawn := make([]crop, len(b.sigmas))
	for n := range drawn {
		drawn[n] = b.config.drawCrop(set, g)
		if b.sigmas[n] = sigma; sigma == 0 {
			b.sigmas[n] = b.config.SigmaMin + (b.config.SigmaMax-b.config.SigmaMin)*g.uniform()
		}
	}
	b.makeCrops(drawn)
	b.white(q, g)
	image := len(b.samples) / len(b.sigmas)
	parallel.Concurrently(len(b.sigmas), func(n int) {
		sigma := float32(b.sigmas[n])
		for i := n * image; i < (n+1)*image; i++ {
			b.noise[i] = b.samples[i] + float32(sigma*b.noise[i])
		}
	})
	q.Upload(b.clean, b.samples)
	q.Upload(b.noisy, b.noise)
}

// crops fills samples with crops of pictures.
func (b *batch) crops(set *Pictures, g *generator) {
	drawn := make([]crop, len(b.sigmas))
	for n := range drawn {
		drawn[n] = b.config.drawCrop(set, g)
	}
	b.makeCrops(drawn)
}

func (b *batch) makeCrops(drawn []crop) {
	parallel.Concurrently(len(drawn), func(n int) { b.makeCrop(n, drawn[n]) })
}

// crop is a square of a picture, and what becomes of it.
type crop struct {
	of    *picture
	y, x  int // of its first sample
	from  int // its side in the picture
	side  int // its side once it is reduced
	turn  symmetry.Symmetry
	saved *cameranoise.JPEG // or nil
	top   int               // of what is cut out once it is saved
	left  int
}

// drawCrop draws a crop.
func (c Config) drawCrop(set *Pictures, g *generator) crop {
	d := crop{of: &set.list[g.below(len(set.list))], side: c.Crop}
	saved := c.Saved > 0 && g.uniform() < c.Saved
	if saved {
		d.side += savedMargin
	}
	d.from = d.side
	if c.Reduce > 1 && g.uniform() < 0.5 {
		d.from = min(int(float64(d.side)*(1+(c.Reduce-1)*g.uniform())), d.of.h, d.of.w)
	}
	d.y, d.x = g.below(d.of.h-d.from+1), g.below(d.of.w-d.from+1)
	if c.Augment {
		d.turn = symmetry.Symmetry(g.below(symmetry.Number))
	}
	if saved {
		file := drawJPEG(g)
		d.saved, d.top, d.left = &file, g.below(savedMargin+1), g.below(savedMargin+1)
	}
	return d
}

// makeCrop fills image n of samples.
func (b *batch) makeCrop(n int, d crop) {
	size, channels, side := b.config.Crop, b.config.Channels, d.side
	all := len(b.cut) / len(b.sigmas)
	cuts := b.cut[n*all:][:all]
	for c := range channels {
		cut := cuts[c*side*side:][:side*side]
		if d.from > side {
			reduced(cut, side, d.of, c, d.y, d.x, d.from)
		} else {
			for i := range side {
				d.of.row(cut[i*side:][:side], c, d.y+i, d.x)
			}
		}
	}
	if d.saved != nil {
		d.saved.Compress(cuts[:channels*side*side], channels, side, side)
		cutOut(cuts, channels, side, size, d.top, d.left)
	}
	for c := range channels {
		plane := size * size
		symmetry.Apply(d.turn, b.samples[(n*channels+c)*plane:][:plane], cuts[c*plane:][:plane], size)
	}
}

// reduced sets dst to a square of channel c of a picture, of from×from pixels from row y and column x
// on. Each of the side×side samples of dst is the mean over the area that it covers.
func reduced(dst []float32, side int, p *picture, c, y, x, from int) {
	clear(dst)
	row := make([]float32, from)
	narrow := make([]float32, side)
	for i := range from {
		p.row(row, c, y+i, x)
		average(narrow, row)
		eachPart(side, from, i, func(k int, share float32) {
			for j, v := range narrow {
				dst[k*side+j] += float32(share * v)
			}
		})
	}
}

// average sets dst to means over equal parts of src, which is longer.
func average(dst, src []float32) {
	clear(dst)
	for i, v := range src {
		eachPart(len(dst), len(src), i, func(k int, share float32) { dst[k] += float32(share * v) })
	}
}

// eachPart calls f with those of n equal parts of m samples, n < m, that sample i lies in, one
// or two, and with its share of their means.
func eachPart(n, m, i int, f func(k int, share float32)) {
	first, last := i*n/m, ((i+1)*n-1)/m
	if first == last {
		f(first, float32(n)/float32(m))
		return
	}
	before := float32(last*m-i*n) / float32(m)
	f(first, before)
	f(last, float32(n)/float32(m)-before)
}

// white fills noise with Gaussian noise of standard deviation 1, a device's own, which has
// the same bits on all of them. It goes through noisy.
func (b *batch) white(q *devicequeue.Queue, g *generator) {
	seed := g.bits()
	q.Do(func() error { return q.Dev.Gaussian(b.noisy, seed, 0, 1) })
	q.Download(b.noise, b.noisy)
}
