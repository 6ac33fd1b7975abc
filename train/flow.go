package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/pullback"
)

// flow is an averaged network on a device, with its gradients. An image is lifted to
// width channels by channels of zeros, goes through the blocks, and is projected onto its
// first channels. Package pullback has its steps, forward and back.
//
// # The ends
//
// Lifting and projection make five of the twelve convolutions and gradients of the first
// and the last step ones of few channels (edge), and one superfluous; with Euler's method
// they are computed so.
//
// # Memory
//
// Where the arrays of all steps would take more than the given number of bytes, only the
// beginning of each block is kept, and the block is computed once more on the way back:
// a third more work, and the same bits.
type flow struct {
	dev        backend.Device
	memory     *devicequeue.Pool
	tableau    rungekutta.Tableau
	activation backend.Activation
	blocks     []*flowBlock
	limit      int64 // bytes for the arrays of all steps

	// fixed has backward leave the gradients of the blocks alone, and source is where it puts
	// that with respect to src, or nil: what a Stage needs.
	fixed  bool
	source backend.Buffer

	tape []blockTape
	src  backend.Buffer // of the last forward
}

// blockTape is what the way back needs of a block.
type blockTape struct {
	begin  backend.Buffer   // z at the beginning
	stages []pullback.Stage // of all its steps, or nil where they are to be computed anew
}

// stages returns s.
func (f *flow) stages() int { return f.tableau.Stages() }

// bytes returns the memory of the arrays that a full tape of images of that shape has.
func (f *flow) bytes(images backend.Shape) int64 {
	total := int64(0)
	for _, b := range f.blocks {
		s := b.filter.Shape()
		arrays := s.C + s.N
		if b.radius != nil {
			arrays += s.N
		}
		total += 4 * int64(images.N*images.Plane()) * int64(arrays) * int64(b.steps*f.stages())
	}
	return total
}

// forward sets dst to the network's result for src, both of shape N×C×H×W, and keeps
// what backward needs. src has to stay as it is until then.
func (f *flow) forward(ctx context.Context, dst, src backend.Buffer) error {
	q := &devicequeue.Queue{Dev: f.dev}
	f.memory.Reclaim() // what a pass that did not come to its end has left
	f.tape, f.src = f.tape[:0], src
	shape := src.Shape()
	keep := f.bytes(shape) <= f.limit
	shape.C = f.blocks[0].filter.Shape().C
	z := f.memory.Take(q, shape)
	q.Fill(z, 0)
	q.Channels(z, src)
	for n := range f.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry := blockTape{begin: z}
		var stages []pullback.Stage
		z, stages = f.run(q, n, z, dst)
		if keep {
			entry.stages = stages
		} else {
			pullback.Drop(f.memory, stages, entry.begin)
		}
		f.tape = append(f.tape, entry)
	}
	f.memory.Give(z)
	return q.Err
}

// run makes the steps of a block from z, which stays as it is, and returns the end and
// what it came through. The end of the last block is projected onto dst.
func (f *flow) run(q *devicequeue.Queue, n int, z, dst backend.Buffer) (backend.Buffer, []pullback.Stage) {
	b := f.blocks[n]
	step := f.stepOf(b)
	stages := make([]pullback.Stage, 0, b.steps*f.stages())
	var image backend.Buffer
	if n == 0 && b.edge != nil {
		image = f.src
	}
	for i := range b.steps {
		if last := n == len(f.blocks)-1 && i == b.steps-1; last && b.edge != nil {
			q.Channels(dst, z)
			t := step.Evaluate(q, f.memory, pullback.Stage{Point: z, Owned: true, Image: image})
			q.Adjoint(dst, t.Out, b.edge.filter, 1, -b.step)
			return nil, append(stages, t)
		}
		next := f.memory.Take(q, z.Shape())
		stages = step.Forward(q, f.memory, next, z, image, stages)
		z, image = next, nil
	}
	if n == len(f.blocks)-1 {
		q.Channels(dst, z)
	}
	return z, stages
}

// stepOf returns a step of a block.
func (f *flow) stepOf(b *flowBlock) pullback.Step {
	s := pullback.Step{
		Tableau: f.tableau, Filter: b.filter, Bias: b.bias, Activation: f.activation, Radius: b.radius, Size: b.step,
		FilterGradient: b.dw, BiasGradient: b.db, RadiusGradient: b.dr,
	}
	if b.maps != nil {
		s.Radius, s.RadiusGradient = b.maps.radius, b.maps.gradient
	}
	if b.edge != nil {
		s.EdgeFilter, s.EdgeGradient = b.edge.filter, b.edge.dw
	}
	if f.fixed {
		s.FilterGradient, s.EdgeGradient, s.BiasGradient, s.RadiusGradient = nil, nil, nil, nil
	}
	return s
}

// backwardTo is backward with the gradient with respect to src in source, unless that is nil, and
// without those of the blocks, unless learn.
func (f *flow) backwardTo(ctx context.Context, source, gradient backend.Buffer, learn bool) error {
	f.source, f.fixed = source, !learn
	defer func() { f.source, f.fixed = nil, false }()
	return f.backward(ctx, gradient)
}

// backward adds the gradients of ⟨gradient, result⟩ to those of the blocks, where
// gradient has the shape of an image and result is that of the last forward.
func (f *flow) backward(ctx context.Context, gradient backend.Buffer) error {
	q := &devicequeue.Queue{Dev: f.dev}
	shape := gradient.Shape()
	shape.C = f.blocks[0].filter.Shape().C
	g := f.memory.Take(q, shape)
	q.Fill(g, 0)
	q.Channels(g, gradient)
	for n := len(f.blocks) - 1; n >= 0; n-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, entry := f.blocks[n], f.tape[n]
		if entry.stages == nil {
			var end backend.Buffer
			spare := f.memory.Take(q, gradient.Shape())
			end, entry.stages = f.run(q, n, entry.begin, spare)
			f.memory.Give(end, spare)
		}
		step := f.stepOf(b)
		for at := len(entry.stages); at > 0; at -= f.stages() {
			last := f.source == nil && n == 0 && at == f.stages()
			if n == len(f.blocks)-1 && at == len(entry.stages) && b.edge != nil {
				step.BackProjected(q, f.memory, g, gradient, entry.stages[at-1], last)
			} else {
				g = step.Back(q, f.memory, g, entry.stages[at-f.stages():at], last)
			}
		}
		pullback.Drop(f.memory, entry.stages, nil)
	}
	if f.source != nil {
		q.Channels(f.source, g) // the adjoint of lifting
	}
	f.memory.Give(g)
	f.tape = f.tape[:0]
	return q.Err
}
