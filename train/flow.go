package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/rungekutta"
)

// flow is an averaged network on a device, with its gradients. An image is lifted to
// width channels by channels of zeros, goes through the blocks, and is projected onto its
// first channels.
//
// # Forward
//
// A step of size h along −Aᵀσ(Az + b) with s stages is, for i = 1 … s,
//
//	Y_i = z − h Σ_j a_ij k_j,   u_i = σ(AY_i + b),   k_i = Aᵀu_i,   z⁺ = z − h Σ_i b_i k_i.
//
// # Backward
//
// Let g be the gradient of the loss with respect to z⁺, and that with respect to k_i be
// −h·κ_i. Backward through the stages, i = s … 1,
//
//	κ_i  = b_i g + Σ_{l>i} a_li η_l
//	p_i  = σ'(AY_i + b) ⊙ Aκ_i
//	η_i  = −h Aᵀp_i                               with respect to Y_i
//	∂A  += −h (∂⟨p_i, AY_i⟩/∂A + ∂⟨u_i, Aκ_i⟩/∂A)      through A and through Aᵀ
//	∂b  += −h Σ p_i                               over pixels
//
// and the gradient with respect to z is g + Σ η_i. The factor −h is left to the scale of
// the operations, so that it costs no pass over memory. Y_i and u_i are kept from the way
// forward, two arrays a stage, and σ' is read off u_i; or three with AY_i + b, where σ is a
// projection onto balls, whose radii have a gradient like that of b.
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
	memory     *scratch
	tableau    rungekutta.Tableau
	activation backend.Activation
	blocks     []*flowBlock
	limit      int64 // bytes for the arrays of all steps

	tape []blockTape
	src  backend.Buffer // of the last forward
}

// blockTape is what the way back needs of a block.
type blockTape struct {
	begin  backend.Buffer // z at the beginning
	stages []stageTape    // of all its steps, or nil where they are to be computed anew
}

// stageTape is what the way back needs of a stage.
type stageTape struct {
	point backend.Buffer // Y
	image backend.Buffer // the first channels of Y, if the others are zeros; or nil
	owned bool           // whether Y has memory of its own, and is not an earlier z
	inner backend.Buffer // AY + b, where σ is a projection onto balls; or nil
	out   backend.Buffer // u
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
	q := &queue{dev: f.dev}
	f.memory.reclaim() // what a pass that did not come to its end has left
	f.tape, f.src = f.tape[:0], src
	shape := src.Shape()
	keep := f.bytes(shape) <= f.limit
	shape.C = f.blocks[0].filter.Shape().C
	z := f.memory.take(q, shape)
	q.fill(z, 0)
	q.channels(z, src)
	for n := range f.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry := blockTape{begin: z}
		var stages []stageTape
		z, stages = f.run(q, n, z, dst)
		if keep {
			entry.stages = stages
		} else {
			f.drop(stages, entry.begin)
		}
		f.tape = append(f.tape, entry)
	}
	f.memory.give(z)
	return q.err
}

// drop gives the arrays of stages back, all but the first z.
func (f *flow) drop(stages []stageTape, begin backend.Buffer) {
	for _, s := range stages {
		f.memory.give(s.out)
		if s.inner != nil {
			f.memory.give(s.inner)
		}
		if s.owned && s.point != begin {
			f.memory.give(s.point)
		}
	}
}

// run makes the steps of a block from z, which stays as it is, and returns the end and
// what it came through. The end of the last block is projected onto dst.
func (f *flow) run(q *queue, n int, z, dst backend.Buffer) (backend.Buffer, []stageTape) {
	b := f.blocks[n]
	stages := make([]stageTape, 0, b.steps*f.stages())
	var image backend.Buffer
	if n == 0 && b.edge != nil {
		image = f.src
	}
	for i := range b.steps {
		if last := n == len(f.blocks)-1 && i == b.steps-1; last && b.edge != nil {
			q.channels(dst, z)
			t := f.inner(q, b, stageTape{point: z, owned: true, image: image})
			q.adjoint(dst, t.out, b.edge.filter, 1, -b.step)
			return nil, append(stages, t)
		}
		next := f.memory.take(q, z.Shape())
		q.combine(next, backend.Term{A: 1, X: z})
		stages = f.step(q, b, next, z, image, stages)
		z, image = next, nil
	}
	if n == len(f.blocks)-1 {
		q.channels(dst, z)
	}
	return z, stages
}

// inner sets t.out to σ(AY + b).
func (f *flow) inner(q *queue, b *flowBlock, t stageTape) stageTape {
	hidden := t.point.Shape()
	hidden.C = b.filter.Shape().N
	t.out = f.memory.take(q, hidden)
	to, end := t.out, backend.ConvEnd{Bias: b.bias, Activation: f.activation}
	if b.radius != nil {
		t.inner = f.memory.take(q, hidden)
		to, end.Activation = t.inner, backend.Activation{}
	}
	if t.image != nil {
		q.convolve(to, t.image, b.edge.filter, end)
	} else {
		q.convolve(to, t.point, b.filter, end)
	}
	if b.radius != nil {
		q.projectBalls(t.out, t.inner, b.radius)
	}
	return t
}

// step adds to next, which holds z, the change in one step from z. image is z before it
// was lifted, or nil.
func (f *flow) step(q *queue, b *flowBlock, next, z, image backend.Buffer, stages []stageTape) []stageTape {
	k := make([]backend.Buffer, f.stages())
	for i := range k {
		// The z of the step belongs to its first stage.
		t := stageTape{point: z, owned: i == 0, image: image}
		if terms := b.terms(z, f.tableau.A[i][:i], k); len(terms) > 1 {
			t.point, t.owned = f.memory.take(q, z.Shape()), true
			q.combine(t.point, terms...)
		}
		t = f.inner(q, b, t)
		scale := float32(-float64(b.step) * f.tableau.B[i])
		if f.feedsLater(i) {
			k[i] = f.memory.take(q, z.Shape())
			q.adjoint(k[i], t.out, b.filter, 0, 1)
			q.combine(next, backend.Term{A: 1, X: next}, backend.Term{A: scale, X: k[i]})
		} else {
			q.adjoint(next, t.out, b.filter, 1, scale)
		}
		stages = append(stages, t)
	}
	f.memory.give(k...)
	return stages
}

// terms are those of z − h Σ a_j k_j.
func (b *flowBlock) terms(z backend.Buffer, a []float64, k []backend.Buffer) []backend.Term {
	terms := []backend.Term{{A: 1, X: z}}
	for j, a := range a {
		if a != 0 {
			terms = append(terms, backend.Term{A: float32(-float64(b.step) * a), X: k[j]})
		}
	}
	return terms
}

// feedsLater tells whether a later stage of a step needs k_i.
func (f *flow) feedsLater(i int) bool {
	for l := i + 1; l < f.stages(); l++ {
		if f.tableau.A[l][i] != 0 {
			return true
		}
	}
	return false
}

// backward adds the gradients of ⟨gradient, result⟩ to those of the blocks, where
// gradient has the shape of an image and result is that of the last forward.
func (f *flow) backward(ctx context.Context, gradient backend.Buffer) error {
	q := &queue{dev: f.dev}
	shape := gradient.Shape()
	shape.C = f.blocks[0].filter.Shape().C
	g := f.memory.take(q, shape)
	q.fill(g, 0)
	q.channels(g, gradient)
	for n := len(f.blocks) - 1; n >= 0; n-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, entry := f.blocks[n], f.tape[n]
		if entry.stages == nil {
			var end backend.Buffer
			spare := f.memory.take(q, gradient.Shape())
			end, entry.stages = f.run(q, n, entry.begin, spare)
			f.memory.give(end, spare)
		}
		for at := len(entry.stages); at > 0; at -= f.stages() {
			// Nobody asks for the gradient with respect to the image.
			last := n == 0 && at == f.stages()
			if n == len(f.blocks)-1 && at == len(entry.stages) && b.edge != nil {
				f.projectionBack(q, b, g, gradient, entry.stages[at-1], last)
			} else {
				g = f.stepBack(q, b, g, entry.stages[at-f.stages():at], last)
			}
		}
		f.drop(entry.stages, nil)
	}
	f.memory.give(g)
	f.tape = f.tape[:0]
	return q.err
}

// stepBack returns the gradient with respect to z of a step whose result has the gradient
// g, in g's memory or in its place; where last, it is not complete.
func (f *flow) stepBack(q *queue, b *flowBlock, g backend.Buffer, stages []stageTape, last bool) backend.Buffer {
	h := -b.step
	p := f.memory.take(q, stages[0].out.Shape())
	defer f.memory.give(p)
	if f.stages() == 1 { // κ = g, and nothing needs g once p is there
		f.stageBack(q, b, p, g, b.filter, b.dw, stages[0])
		if !last {
			q.adjoint(g, p, b.filter, 1, h)
		}
		return g
	}
	sum := f.memory.take(q, g.Shape())
	kappa := f.memory.take(q, g.Shape())
	q.combine(sum, backend.Term{A: 1, X: g})
	eta := make([]backend.Buffer, f.stages())
	for i := len(stages) - 1; i >= 0; i-- {
		terms := []backend.Term{{A: float32(f.tableau.B[i]), X: g}}
		for l := i + 1; l < len(stages); l++ {
			if a := f.tableau.A[l][i]; a != 0 {
				terms = append(terms, backend.Term{A: float32(a), X: eta[l]})
			}
		}
		q.combine(kappa, terms...)
		f.stageBack(q, b, p, kappa, b.filter, b.dw, stages[i])
		if i == 0 {
			if !last {
				q.adjoint(sum, p, b.filter, 1, h)
			}
			continue
		}
		eta[i] = f.memory.take(q, g.Shape())
		q.adjoint(eta[i], p, b.filter, 0, h)
		q.combine(sum, backend.Term{A: 1, X: sum}, backend.Term{A: 1, X: eta[i]})
	}
	f.memory.give(eta...)
	f.memory.give(kappa, g)
	return sum
}

// projectionBack is stepBack for the last Euler step, with g, the gradient lifted by zeros,
// in its place.
func (f *flow) projectionBack(q *queue, b *flowBlock, g, gradient backend.Buffer, t stageTape, last bool) {
	p := f.memory.take(q, t.out.Shape())
	f.stageBack(q, b, p, gradient, b.edge.filter, b.edge.dw, t)
	if !last {
		q.adjoint(g, p, b.filter, 1, -b.step)
	}
	f.memory.give(p)
}

// stageBack sets p from κ and adds what the stage has of the gradients of A and b. filter
// and dw are those for the channels of κ, the block's or its edge's.
func (f *flow) stageBack(q *queue, b *flowBlock, p, kappa backend.Buffer, filter backend.Filter, dw backend.Buffer, t stageTape) {
	q.convolve(p, kappa, filter, backend.ConvEnd{})
	if b.radius != nil {
		q.projectBallsGradient(p, b.dr, t.inner, p, b.radius, 1)
	} else {
		q.activationGradient(p, t.out, p, f.activation)
	}
	if t.image != nil {
		q.filterGradient(b.edge.dw, t.image, p, 1, -b.step)
	} else {
		q.filterGradient(b.dw, t.point, p, 1, -b.step)
	}
	q.filterGradient(dw, kappa, t.out, 1, -b.step)
	q.biasGradient(b.db, p, 1)
}
