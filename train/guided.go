package train

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/guide"
	"github.com/averaged/imaging/internal/parallel"
)

// guided is what an averaged network has besides its blocks where a guide sets the radii of
// their balls:
//
//	radius[p,g] = base[g] · exp(L·tanh(x[p,g]/L)),
//
// with the x of pixel p and group g from the guide, L = guide.Limit, and the base that a
// network without guide has. With r the radius and d the gradient with respect to it, that of x
// is r·d·(1 − tanh²), and that of base[g] is Σ r·d/base[g]. The exponentials are
// made on the host, by all of its processors.
type guided struct {
	*guideNet
	blocks  []*flowBlock
	offsets backend.Buffer // of all blocks, one after the other, and their gradient
	images  int
	each    int         // numbers of a block in an image
	host    []float32   // of offsets
	radii   [][]float32 // of each block, in all images; on the way back their gradient
	factors [][]float32 // radius/base of each block
	slopes  [][]float32 // 1 − tanh² of each block
	most    float64     // of a factor
}

// radiusMap is the radii of a block's balls on the device, and their gradient.
type radiusMap struct{ radius, gradient backend.Buffer }

func newGuided(dev backend.Device, c Config, blocks []*flowBlock) (*guided, error) {
	s := c.batchShape().Unshuffled(c.shuffle())
	groups := c.groups()
	g, err := newGuideNet(dev, c.Guide, s.C, groups*len(blocks))
	if err != nil {
		return nil, err
	}
	q := &devicequeue.Queue{Dev: dev}
	s.C = groups
	a := &guided{guideNet: g, blocks: blocks, images: s.N, each: groups * s.Plane(), most: math.Inf(1)}
	if c.Guide.MaxFactor > 0 {
		a.most = c.Guide.MaxFactor
	}
	for _, b := range blocks {
		b.maps = &radiusMap{radius: g.kept.Take(q, s), gradient: g.kept.Take(q, s)}
		for _, list := range []*[][]float32{&a.radii, &a.factors, &a.slopes} {
			*list = append(*list, make([]float32, s.Len()))
		}
	}
	s.C *= len(blocks)
	a.offsets, a.host = g.kept.Take(q, s), make([]float32, s.Len())
	if q.Err != nil {
		g.release()
		return nil, q.Err
	}
	return a, nil
}

// offsetsOf returns the host's offsets of block k in image n.
func (a *guided) offsetsOf(n, k int) []float32 {
	return a.host[(n*len(a.blocks)+k)*a.each:][:a.each]
}

// guide sets the radii for src, the image as the blocks see it.
func (a *averaged) guide(src backend.Buffer) error {
	if a.guided == nil {
		return nil
	}
	q := &devicequeue.Queue{Dev: a.dev}
	a.guided.set(q, src, a.sigma)
	return q.Err
}

func (a *guided) set(q *devicequeue.Queue, src backend.Buffer, sigma float64) {
	a.forward(q, a.offsets, src, sigma)
	q.Download(a.host, a.offsets)
	a.everywhere(func(k, n int) {
		base, plane := a.blocks[k].base, a.each/len(a.blocks[k].base)
		radii, factors, slopes := a.of(a.radii[k], n), a.of(a.factors[k], n), a.of(a.slopes[k], n)
		for i, offset := range a.offsetsOf(n, k) {
			factor, slope := guide.Derived(offset)
			factor = min(factor, a.most)
			factors[i], slopes[i] = float32(factor), float32(slope)
			radii[i] = float32(factor * float64(base[i/plane]))
		}
	})
	for k, b := range a.blocks {
		q.Upload(b.maps.radius, a.radii[k])
		q.Fill(b.maps.gradient, 0)
	}
}

// everywhere calls body for each block k in each image n, all at once.
func (a *guided) everywhere(body func(k, n int)) {
	parallel.Concurrently(len(a.blocks)*a.images, func(i int) { body(i/a.images, i%a.images) })
}

// of returns the part of an image of what there is of a block in all images.
func (a *guided) of(values []float32, n int) []float32 { return values[n*a.each:][:a.each] }

// guideBack goes from the gradients of the radii, which the blocks have made, on to those of
// the guide and of the blocks' own radii.
func (a *averaged) guideBack() error {
	if a.guided == nil {
		return nil
	}
	q := &devicequeue.Queue{Dev: a.dev}
	a.guided.back(q)
	if q.Err != nil {
		return fmt.Errorf("gradients of the guide: %w", q.Err)
	}
	return nil
}

func (a *guided) back(q *devicequeue.Queue) {
	for k, b := range a.blocks {
		q.Download(a.radii[k], b.maps.gradient)
	}
	sums := make([][]float64, len(a.blocks)*a.images) // of Σ r·d/base, for each group
	most := float32(a.most)
	a.everywhere(func(k, n int) {
		b := a.blocks[k]
		plane := a.each / len(b.base)
		of := make([]float64, len(b.base))
		factors, slopes, gradient := a.of(a.factors[k], n), a.of(a.slopes[k], n), a.of(a.radii[k], n)
		offsets := a.offsetsOf(n, k)
		for i := range offsets {
			v := float64(factors[i]) * float64(gradient[i])
			of[i/plane] += v
			// The gradients of the blocks lack this factor.
			v = -float64(b.step) * (v * float64(slopes[i])) * float64(b.base[i/plane])
			if factors[i] >= most && v < 0 { // to go on would change nothing
				v = 0
			}
			offsets[i] = float32(v)
		}
		sums[k*a.images+n] = of
	})
	for k, b := range a.blocks {
		total := make([]float32, len(b.base))
		q.Download(total, b.dr)
		for g := range total {
			sum := 0.0
			for n := range a.images {
				sum += sums[k*a.images+n][g]
			}
			total[g] += float32(sum)
		}
		q.Upload(b.dr, total)
	}
	q.Upload(a.offsets, a.host)
	a.backward(q, a.offsets)
}
