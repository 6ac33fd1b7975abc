package classifier

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// pooling is the mean over squares of factor×factor pixels, a train.Part without parameters. It
// is a rearrangement of the pixels of a square to channels, an isometry, and a 1×1 convolution.
type pooling struct {
	dev      backend.Device
	kept     *devicequeue.Pool
	memory   *devicequeue.Pool
	channels int
	factor   int
	filter   backend.Filter
}

func newPooling(dev backend.Device, channels, factor int) (*pooling, error) {
	p := &pooling{dev: dev, kept: devicequeue.NewPool(dev), memory: devicequeue.NewPool(dev), channels: channels, factor: factor}
	square := factor * factor
	mean := make([]float32, channels*channels*square)
	for c := range channels {
		for k := range square {
			mean[c*channels*square+c*square+k] = p.weight()
		}
	}
	q := p.queue()
	w := p.kept.Take(q, backend.Shape{N: channels, C: channels * square, H: 1, W: 1})
	q.Upload(w, mean)
	q.Do(func() (err error) {
		p.filter, err = dev.NewFilter(w)
		return err
	})
	if q.Err != nil {
		p.Release()
		return nil, q.Err
	}
	return p, nil
}

func (p *pooling) queue() *devicequeue.Queue { return &devicequeue.Queue{Dev: p.dev} }

func (p *pooling) weight() float32 { return float32(1 / float64(p.factor*p.factor)) }

// out returns the shape of the result.
func (p *pooling) out(s backend.Shape) (backend.Shape, error) {
	if s.C != p.channels || s.H%p.factor != 0 || s.W%p.factor != 0 {
		return s, fmt.Errorf("%w: pooling of %d channels by %d of %v", backend.ErrShape, p.channels, p.factor, s)
	}
	s.H, s.W = s.H/p.factor, s.W/p.factor
	return s, nil
}

// Forward sets dst to the means of src.
func (p *pooling) Forward(_ context.Context, dst, src backend.Buffer) error {
	if _, err := p.out(src.Shape()); err != nil {
		return err
	}
	q := p.queue()
	squares := p.memory.Take(q, src.Shape().Unshuffled(p.factor))
	defer p.memory.Give(squares)
	q.Do(func() error { return p.dev.Unshuffle(squares, src, p.factor) })
	q.Convolve(dst, squares, p.filter, backend.ConvEnd{})
	return q.Err
}

// Backward is the adjoint.
func (p *pooling) Backward(_ context.Context, source, gradient backend.Buffer, _ bool) error {
	if source == nil {
		return nil
	}
	q := p.queue()
	squares := p.memory.Take(q, source.Shape().Unshuffled(p.factor))
	defer p.memory.Give(squares)
	q.Adjoint(squares, gradient, p.filter, 0, 1)
	q.Do(func() error { return p.dev.Shuffle(source, squares, p.factor) })
	return q.Err
}

// lipschitz is the norm: k equal weights in a row, and rows that share no column, have √k times
// the weight.
func (p *pooling) lipschitz(context.Context) (float64, error) {
	return math.Nextafter(float64(p.weight())*float64(p.factor), math.Inf(1)), nil
}

func (p *pooling) Parameters() []*train.Parameter   { return nil }
func (p *pooling) Initialise(uint64) error          { return nil }
func (p *pooling) Clear() error                     { return nil }
func (p *pooling) Gradients() error                 { return nil }
func (p *pooling) Update() error                    { return nil }
func (p *pooling) Save(*weights.File, string) error { return nil }
func (p *pooling) Load(*weights.File, string) error { return nil }

func (p *pooling) Release() {
	if p.filter != nil {
		p.filter.Free()
	}
	p.kept.Free()
	p.memory.Free()
}
