package train

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/symmetry"
)

// batch makes the crops and the noise of one pass through a network.
type batch struct {
	config  Config
	memory  *devicequeue.Pool
	clean   backend.Buffer
	noisy   backend.Buffer
	samples []float32 // of clean, on the host
	noise   []float32 // of noise and then of noisy, on the host
	sigmas  []float64
	cut     []float32 // the channels of a crop before it is turned, and what is around it
	ahead   *prints   // of a Camera's next iteration, or nil
}

func newBatch(q *devicequeue.Queue, memory *devicequeue.Pool, c Config) *batch {
	s := c.batchShape()
	side := c.Crop
	if c.Saved > 0 {
		side += savedMargin
	}
	return &batch{
		config: c, memory: memory,
		clean: memory.Take(q, s), noisy: memory.Take(q, s),
		samples: make([]float32, s.Len()), noise: make([]float32, s.Len()),
		sigmas: make([]float64, c.Batch), cut: make([]float32, s.C*side*side),
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
	for n := range b.sigmas {
		b.crop(n, set, g)
		if b.sigmas[n] = sigma; sigma == 0 {
			b.sigmas[n] = b.config.SigmaMin + (b.config.SigmaMax-b.config.SigmaMin)*g.uniform()
		}
	}
	b.white(q, g)
	image := len(b.samples) / len(b.sigmas)
	for n, sigma := range b.sigmas {
		for i := n * image; i < (n+1)*image; i++ {
			b.noise[i] = b.samples[i] + float32(float32(sigma)*b.noise[i])
		}
	}
	q.Upload(b.clean, b.samples)
	q.Upload(b.noisy, b.noise)
}

// crops fills samples with crops of pictures.
func (b *batch) crops(set *Pictures, g *generator) {
	for n := range b.sigmas {
		b.crop(n, set, g)
	}
}

// crop fills image n of samples.
func (b *batch) crop(n int, set *Pictures, g *generator) {
	size, channels := b.config.Crop, b.config.Channels
	p := &set.list[g.below(len(set.list))]
	saved := b.config.Saved > 0 && g.uniform() < b.config.Saved
	side := size
	if saved {
		side += savedMargin
	}
	from := side
	if b.config.Reduce > 1 && g.uniform() < 0.5 {
		from = min(int(float64(side)*(1+(b.config.Reduce-1)*g.uniform())), p.h, p.w)
	}
	y, x := g.below(p.h-from+1), g.below(p.w-from+1)
	turn := symmetry.Symmetry(0)
	if b.config.Augment {
		turn = symmetry.Symmetry(g.below(symmetry.Number))
	}
	for c := range channels {
		cut := b.cut[c*side*side:][:side*side]
		if from > side {
			reduced(cut, side, p, c, y, x, from)
		} else {
			for i := range side {
				p.row(cut[i*side:][:side], c, y+i, x)
			}
		}
	}
	if saved {
		drawJPEG(g).Compress(b.cut[:channels*side*side], channels, side, side)
		top, left := g.below(savedMargin+1), g.below(savedMargin+1)
		cutOut(b.cut, channels, side, size, top, left)
	}
	for c := range channels {
		plane := size * size
		symmetry.Apply(turn, b.samples[(n*channels+c)*plane:][:plane], b.cut[c*plane:][:plane], size)
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
