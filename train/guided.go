package train

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/guide"
	"github.com/averaged/imaging/internal/devicequeue"
)

// guided is what an averaged network has besides its blocks where a guide sets the radii of
// their balls:
//
//	radius[p,g] = base[g] · exp(L·tanh(x[p,g]/L)),
//
// with the x of pixel p and group g from the guide, L = guide.Limit, and the base that a
// network without guide has. With r the radius and d the gradient with respect to it, that of x
// is r·d·(1 − tanh²), and that of base[g] is Σ r·d/base[g]. The exponentials are
// made on the host: they are few beside the convolutions.
type guided struct {
	*guideNet
	blocks  []*flowBlock
	offsets backend.Buffer // of all blocks, one after the other, and their gradient
	images  int
	each    int       // numbers of a block in an image
	host    []float32 // of offsets
	radii   []float32 // of one block, in all images
	scratch []float32
	factors [][]float32 // radius/base of each block
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
	if c.Guide.Most > 0 {
		a.most = c.Guide.Most
	}
	a.radii, a.scratch = make([]float32, s.Len()), make([]float32, s.Len())
	for _, b := range blocks {
		b.maps = &radiusMap{radius: g.kept.Take(q, s), gradient: g.kept.Take(q, s)}
		a.factors = append(a.factors, make([]float32, s.Len()))
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
	for k, b := range a.blocks {
		plane := a.each / len(b.base)
		for n := range a.images {
			factors := a.factors[k][n*a.each:][:a.each]
			for i, offset := range a.offsetsOf(n, k) {
				factor, _ := guide.Derived(offset)
				factor = min(factor, a.most)
				factors[i] = float32(factor)
				a.radii[n*a.each+i] = float32(factor * float64(b.base[i/plane]))
			}
		}
		q.Upload(b.maps.radius, a.radii)
		q.Fill(b.maps.gradient, 0)
	}
}

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
		q.Download(a.scratch, b.maps.gradient)
		sums := make([]float64, len(b.base))
		plane := a.each / len(b.base)
		for n := range a.images {
			factors, gradient := a.factors[k][n*a.each:][:a.each], a.scratch[n*a.each:]
			offsets := a.offsetsOf(n, k)
			for i, offset := range offsets {
				v := float64(factors[i]) * float64(gradient[i])
				sums[i/plane] += v
				factor, slope := guide.Derived(offset)
				v *= slope
				// The gradients of the blocks lack this factor.
				v = -float64(b.step) * v * float64(b.base[i/plane])
				if factor > a.most && v < 0 { // to go on would change nothing
					v = 0
				}
				offsets[i] = float32(v)
			}
		}
		total := make([]float32, len(sums))
		q.Download(total, b.dr)
		for i, v := range sums {
			total[i] += float32(v)
		}
		q.Upload(b.dr, total)
	}
	q.Upload(a.offsets, a.host)
	a.backward(q, a.offsets)
}
