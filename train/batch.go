package train

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
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
	cut     []float32 // a crop before it is turned
}

func newBatch(q *devicequeue.Queue, memory *devicequeue.Pool, c Config) *batch {
	s := c.batchShape()
	return &batch{
		config: c, memory: memory,
		clean: memory.Take(q, s), noisy: memory.Take(q, s),
		samples: make([]float32, s.Len()), noise: make([]float32, s.Len()),
		sigmas: make([]float64, c.Batch), cut: make([]float32, s.Plane()),
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
	size, plane := b.config.Crop, b.config.Crop*b.config.Crop
	p := &set.list[g.below(len(set.list))]
	y, x := g.below(p.h-size+1), g.below(p.w-size+1)
	turn := symmetry(0)
	if b.config.Augment {
		turn = symmetry(g.below(symmetries))
	}
	for c := range b.config.Channels {
		for i := range size {
			p.row(b.cut[i*size:][:size], c, y+i, x)
		}
		turn.apply(b.samples[(n*b.config.Channels+c)*plane:][:plane], b.cut, size)
	}
}

// white fills noise with Gaussian noise of standard deviation 1, a device's own, which has
// the same bits on all of them. It goes through noisy.
func (b *batch) white(q *devicequeue.Queue, g *generator) {
	seed := g.bits()
	q.Do(func() error { return q.Dev.Gaussian(b.noisy, seed, 0, 1) })
	q.Download(b.noise, b.noisy)
}

// symmetry is one of the eight of a square: bit 0 exchanges rows and columns, bits 1 and
// 2 reverse rows and columns. Together they are the flips and the quarter turns.
type symmetry int

const symmetries = 8

func (s symmetry) apply(dst, src []float32, size int) {
	for y := range size {
		for x := range size {
			fromY, fromX := y, x
			if s&1 != 0 {
				fromY, fromX = x, y
			}
			if s&2 != 0 {
				fromY = size - 1 - fromY
			}
			if s&4 != 0 {
				fromX = size - 1 - fromX
			}
			dst[y*size+x] = src[fromY*size+fromX]
		}
	}
}
