package train

import (
	"context"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/weights"
)

// averaged is the network of an averaged denoiser in training.
type averaged struct {
	*flow
	config Config
	model  denoise.Model     // without weights
	kept   *devicequeue.Pool // buffers that stay from one iteration to the next
	// With a shuffle, the images that the flow begins and ends with.
	small, smallEnd backend.Buffer
	guided          *guided // or nil
	sigma           float64 // of the noise of the moment, for the guide
	frozen          bool    // the radii are those of freeze, until tune
}

// flowShape is that of the images which the flow begins and ends with.
func (a *averaged) flowShape() backend.Shape {
	s, q := a.config.batchShape(), a.config.shuffle()
	s.C, s.H, s.W = s.C*q*q, s.H/q, s.W/q
	return s
}

// forward rearranges, goes through the flow, and rearranges back.
func (a *averaged) forward(ctx context.Context, dst, src backend.Buffer) error {
	seen, err := a.unshuffled(src)
	if err != nil {
		return err
	}
	if !a.frozen {
		if err := a.guide(seen); err != nil {
			return err
		}
	}
	if a.small == nil {
		return a.flow.forward(ctx, dst, src)
	}
	if err := a.flow.forward(ctx, a.smallEnd, a.small); err != nil {
		return err
	}
	return a.dev.Shuffle(dst, a.smallEnd, a.config.shuffle())
}

// unshuffled returns src as the input of the blocks.
func (a *averaged) unshuffled(src backend.Buffer) (backend.Buffer, error) {
	if a.small == nil {
		return src, nil
	}
	return a.small, a.dev.Unshuffle(a.small, src, a.config.shuffle())
}

// freeze has the guide set the radii for src, and forward leave them: the way back goes on to the
// guide as it saw src.
func (a *averaged) freeze(src backend.Buffer) error {
	seen, err := a.unshuffled(src)
	if err != nil {
		return err
	}
	a.frozen = true
	return a.guide(seen)
}

// backward is the way back: the adjoint of rearranging back is rearranging.
func (a *averaged) backward(ctx context.Context, gradient backend.Buffer) error {
	gradient, err := a.rearranged(gradient)
	if err != nil {
		return err
	}
	if err := a.flow.backward(ctx, gradient); err != nil {
		return err
	}
	return a.guideBack()
}

// rearranged returns the gradient of an image as the blocks see it.
func (a *averaged) rearranged(gradient backend.Buffer) (backend.Buffer, error) {
	if a.small == nil {
		return gradient, nil
	}
	return a.smallEnd, a.dev.Unshuffle(a.smallEnd, gradient, a.config.shuffle())
}

// tune prepares a network with levels for a noise level.
func (a *averaged) tune(sigma float64) error {
	a.sigma, a.frozen = sigma, false
	return a.each(func(q *devicequeue.Queue, b *flowBlock) { b.tune(q, sigma) })
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
		kept:   devicequeue.NewPool(dev),
		model: denoise.Model{
			Channels: c.Channels, Width: c.Width, Kernel: c.Kernel,
			Activation: activation.LeakyReLU(c.Slope), Integrator: tableau, Shuffle: c.Shuffle, Sigmas: c.Levels,
		},
		flow: &flow{
			dev: dev, memory: devicequeue.NewPool(dev), tableau: tableau, limit: c.ActivationMemory,
			activation: backend.Activation{Kind: backend.LeakyReLU, Slope: float32(c.Slope)},
		},
	}
	if c.Group > 0 {
		a.model.Activation = activation.Balls()
	}
	s := scaling{constraint: c.Constraint, limit: c.NormLimit, initial: c.InitialNorm, gained: len(c.Levels) > 0 && c.Group == 0, length: c.length(radius), radius: radius}
	q := &devicequeue.Queue{Dev: dev}
	for i := range c.Blocks {
		a.flow.blocks = append(a.flow.blocks, newFlowBlock(q, a.kept, s, i, c))
	}
	if channels := a.flowShape().C; tableau.Stages() == 1 && channels < c.Width {
		a.flow.blocks[0].edge = newEdge(q, a.kept, c.Width, channels, c.Kernel)
		if n := len(a.flow.blocks) - 1; n > 0 {
			a.flow.blocks[n].edge = newEdge(q, a.kept, c.Width, channels, c.Kernel)
		}
	}
	if c.Guide != nil && q.Err == nil {
		if a.guided, q.Err = newGuided(dev, c, a.flow.blocks); q.Err == nil {
			a.sigma = c.SigmaMax // unless tune says another
		}
	}
	if c.shuffle() > 1 {
		a.small, a.smallEnd = a.kept.Take(q, a.flowShape()), a.kept.Take(q, a.flowShape())
	}
	if q.Err != nil {
		a.release()
		return nil, q.Err
	}
	return a, nil
}

func (a *averaged) parameters() []*Parameter {
	var list []*Parameter
	for _, b := range a.flow.blocks {
		list = append(list, b.parameters()...)
	}
	if a.guided != nil {
		list = append(list, a.guided.parameters()...)
	}
	return list
}

// each does something for every block.
func (a *averaged) each(f func(q *devicequeue.Queue, b *flowBlock)) error {
	q := &devicequeue.Queue{Dev: a.dev}
	for _, b := range a.flow.blocks {
		f(q, b)
	}
	return q.Err
}

func (a *averaged) initialise(g *generator) error {
	err := a.each(func(q *devicequeue.Queue, b *flowBlock) {
		b.initialise(q, g, a.config.PowerIterations)
		b.update(q)
	})
	if err == nil && a.guided != nil {
		err = a.guided.initialise(g)
	}
	return err
}

func (a *averaged) zeroGradients() error {
	return a.all(func(q *devicequeue.Queue, b *flowBlock) { b.zeroGradients(q) }, (*guideNet).zeroGradients)
}

func (a *averaged) gradients() error {
	if err := a.all(func(q *devicequeue.Queue, b *flowBlock) { b.gradients(q) }, (*guideNet).gradients); err != nil {
		return err
	}
	parallel.Concurrently(len(a.flow.blocks), func(i int) { a.flow.blocks[i].finishGradients() })
	return nil
}

func (a *averaged) update() error {
	return a.all(func(q *devicequeue.Queue, b *flowBlock) { b.update(q) }, (*guideNet).prepare)
}

// all does something for every block and something for the guide, if there is one.
func (a *averaged) all(block func(q *devicequeue.Queue, b *flowBlock), ofGuide func(g *guideNet, q *devicequeue.Queue)) error {
	q := &devicequeue.Queue{Dev: a.dev}
	for _, b := range a.flow.blocks {
		block(q, b)
	}
	if a.guided != nil && q.Err == nil {
		ofGuide(a.guided.guideNet, q)
	}
	return q.Err
}

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
	q := &devicequeue.Queue{Dev: a.dev}
	for i, b := range a.flow.blocks {
		q.Download(list[i].values, b.power.right)
	}
	return list, q.Err
}

func (a *averaged) restore(state []array) error {
	q := &devicequeue.Queue{Dev: a.dev}
	for i, b := range a.flow.blocks {
		b.restore(q, state[i].values)
	}
	if a.guided != nil {
		a.guided.prepare(q)
	}
	return q.Err
}

func (a *averaged) effective() []array {
	of := make([][]array, len(a.flow.blocks))
	parallel.Concurrently(len(of), func(i int) { of[i] = a.flow.blocks[i].effective(nil) })
	list := slices.Concat(of...)
	if a.guided != nil {
		list = a.guided.effective(list)
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
	if a.guided != nil {
		arrays, m.Guide = a.guided.modelOf(arrays)
	}
	each := len(arrays) / len(a.flow.blocks)
	for i, b := range a.flow.blocks {
		of := arrays[i*each:][:each]
		block := denoise.Block{Filter: of[0].values, Bias: of[1].values, Length: b.length}
		switch {
		case b.radius != nil:
			block.Radius = of[2].values
		case b.table != nil:
			block.Gain = of[2].values
		}
		if steps {
			block.Steps = b.steps
		}
		m.Blocks = append(m.Blocks, block)
	}
	return m
}

func (a *averaged) denoiser(ctx context.Context, arrays []array, sigma float64) (*denoise.Network, error) {
	m := a.modelOf(arrays, true)
	if len(m.Sigmas) > 0 {
		var err error
		if m, err = m.At(sigma); err != nil {
			return nil, err
		}
	}
	return denoise.New(ctx, a.dev, m, denoise.Certificate{})
}

func (a *averaged) file(ctx context.Context, arrays []array, card weights.Card) (*weights.File, denoise.Certificate, error) {
	m := a.modelOf(arrays, false)
	var opts []weights.FileOption
	if a.config.HalfPrecision {
		opts = append(opts, weights.HalfPrecision())
	}
	certify := func() (c denoise.Certificate, err error) {
		if a.config.HalfPrecision {
			if m, err = m.Rounded16(); err != nil {
				return c, err
			}
		}
		return m.Certify(ctx, 0)
	}
	certificate, err := certify()
	if err != nil {
		return nil, denoise.Certificate{}, err
	}
	if a.shrink(m, certificate) {
		if certificate, err = certify(); err != nil {
			return nil, denoise.Certificate{}, err
		}
	}
	f, err := m.File(card, certificate, opts...)
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
	if a.guided != nil {
		a.guided.release()
	}
	a.memory.Free()
	a.kept.Free()
}
