package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
)

// averaged is the network of an averaged denoiser in training.
type averaged struct {
	*flow
	config Config
	model  denoise.Model // without weights
	kept   *scratch      // buffers that stay from one iteration to the next
}

func newAveraged(dev backend.Device, c Config) (_ *averaged, err error) {
	tableau, err := c.tableau()
	if err != nil {
		return nil, err
	}
	radius, err := tableau.Radius()
	if err != nil {
		return nil, err
	}
	a := &averaged{
		config: c,
		kept:   newScratch(dev),
		model: denoise.Model{
			Channels: c.Channels, Width: c.Width, Kernel: c.Kernel,
			Activation: denoise.LeakyReLU(c.Slope), Integrator: tableau,
		},
		flow: &flow{
			dev: dev, memory: newScratch(dev), tableau: tableau, limit: c.ActivationMemory,
			activation: backend.Activation{Kind: backend.LeakyReLU, Slope: float32(c.Slope)},
		},
	}
	s := scaling{constraint: c.Constraint, limit: c.NormLimit, length: c.length(radius), radius: radius}
	q := &queue{dev: dev}
	for i := range c.Blocks {
		a.flow.blocks = append(a.flow.blocks, newFlowBlock(q, a.kept, s, i, c.Width, c.Kernel, c.PowerSize))
	}
	if tableau.Stages() == 1 && c.Channels < c.Width {
		a.flow.blocks[0].edge = newEdge(q, a.kept, c.Width, c.Channels, c.Kernel)
		if n := len(a.flow.blocks) - 1; n > 0 {
			a.flow.blocks[n].edge = newEdge(q, a.kept, c.Width, c.Channels, c.Kernel)
		}
	}
	if q.err != nil {
		a.release()
		return nil, q.err
	}
	return a, nil
}

func (a *averaged) parameters() []*parameter {
	var list []*parameter
	for _, b := range a.flow.blocks {
		list = append(list, b.parameters()...)
	}
	return list
}

// each does something for every block.
func (a *averaged) each(f func(q *queue, b *flowBlock)) error {
	q := &queue{dev: a.dev}
	for _, b := range a.flow.blocks {
		f(q, b)
	}
	return q.err
}

func (a *averaged) initialise(g *generator) error {
	return a.each(func(q *queue, b *flowBlock) {
		b.initialise(q, g, a.config.PowerIterations)
		b.update(q)
	})
}

func (a *averaged) clear() error { return a.each(func(q *queue, b *flowBlock) { b.clear(q) }) }

func (a *averaged) gradients() error {
	return a.each(func(q *queue, b *flowBlock) { b.gradients(q) })
}

func (a *averaged) update() error { return a.each(func(q *queue, b *flowBlock) { b.update(q) }) }

// arrays are the v of the power iterations.
func (a *averaged) arrays() []array {
	var list []array
	for _, b := range a.flow.blocks {
		s := b.power.right.Shape()
		list = append(list, array{b.weights.name + ".singular", []int{s.C, s.H, s.W}, make([]float32, s.Len())})
	}
	return list
}

func (a *averaged) state() ([]array, error) {
	list := a.arrays()
	q := &queue{dev: a.dev}
	for i, b := range a.flow.blocks {
		q.download(list[i].values, b.power.right)
	}
	return list, q.err
}

func (a *averaged) restore(state []array) error {
	q := &queue{dev: a.dev}
	for i, b := range a.flow.blocks {
		b.restore(q, state[i].values)
	}
	return q.err
}

func (a *averaged) effective() []array {
	var list []array
	for _, b := range a.flow.blocks {
		list = b.effective(list)
	}
	return list
}

func (a *averaged) blockMetrics() []BlockMetrics {
	var list []BlockMetrics
	for _, b := range a.flow.blocks {
		list = append(list, BlockMetrics{Norm: b.c, Steps: b.steps})
	}
	return list
}

// modelOf returns the model with effective arrays in it. The numbers of steps are those
// of the training where steps says so, and otherwise left to Certify.
func (a *averaged) modelOf(arrays []array, steps bool) denoise.Model {
	m := a.model
	m.Blocks = nil
	for i, b := range a.flow.blocks {
		block := denoise.Block{Filter: arrays[2*i].values, Bias: arrays[2*i+1].values, Length: b.length}
		if steps {
			block.Steps = b.steps
		}
		m.Blocks = append(m.Blocks, block)
	}
	return m
}

func (a *averaged) denoiser(ctx context.Context, arrays []array) (*denoise.Network, error) {
	return denoise.New(ctx, a.dev, a.modelOf(arrays, true), denoise.Certificate{})
}

func (a *averaged) file(ctx context.Context, arrays []array, card weights.Card) (*weights.File, denoise.Certificate, error) {
	m := a.modelOf(arrays, false)
	certificate, err := m.Certify(ctx, 0)
	if err != nil {
		return nil, denoise.Certificate{}, err
	}
	if a.shrink(m, certificate) {
		if certificate, err = m.Certify(ctx, 0); err != nil {
			return nil, denoise.Certificate{}, err
		}
	}
	f, err := m.File(card, certificate)
	return f, certificate, err
}

// shrink scales, under Budget, the filters whose proven bound asks for more steps than
// the one that they were trained with, so that the bound becomes NormLimit, and tells
// whether there were any. They have outrun the power iteration, or its images were too
// small for their norm.
func (a *averaged) shrink(m denoise.Model, c denoise.Certificate) bool {
	if a.config.Constraint != Budget {
		return false
	}
	scaled := false
	for i, b := range c.Blocks {
		if b.Steps == 1 {
			continue
		}
		scaled = true
		factor := a.config.NormLimit / b.Norm.Upper
		filter := make([]float32, len(m.Blocks[i].Filter))
		for k, w := range m.Blocks[i].Filter {
			filter[k] = float32(float64(w) * factor)
		}
		m.Blocks[i].Filter = filter
	}
	return scaled
}

func (a *averaged) release() {
	for _, b := range a.flow.blocks {
		b.free()
	}
	a.memory.free()
	a.kept.free()
}
