package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/pullback"
	"github.com/averaged/imaging/internal/nn/tile"
)

// pullBack sets dst = J(x)ᵀv of a denoiser that can do it (refute.Differentiable).
func pullBack(ctx context.Context, d Denoiser, dst, x, v backend.Buffer) (bool, error) {
	if t, ok := d.(refute.Differentiable); ok {
		return t.PullBack(ctx, dst, x, v)
	}
	return false, nil
}

var _ = []refute.Differentiable{(*Network)(nil), relaxed{}, rescaled{}, grey{}}

// PullBack implements refute.Differentiable. It keeps the whole image with all its layers in memory. It returns false
// for rungekutta.BackwardEuler.
func (n *Network) PullBack(ctx context.Context, dst, x, v backend.Buffer) (bool, error) {
	for _, b := range []backend.Buffer{x, v} {
		if err := n.check(dst, b); err != nil {
			return false, err
		}
	}
	s := tile.NewScratch(n.dev)
	defer s.Free()
	if n.shuffle > 1 {
		return transposeShuffled(s, n.shuffle, dst, x, v, func(dst, x, v backend.Buffer) (bool, error) {
			return n.transposeBlocks(ctx, s, dst, x, v)
		})
	}
	return n.transposeBlocks(ctx, s, dst, x, v)
}

// transposeBlocks is PullBack for what the body computes.
func (n *Network) transposeBlocks(ctx context.Context, s *tile.Scratch, dst, x, v backend.Buffer) (bool, error) {
	switch b := n.body.(type) {
	case *explicit:
		return true, transposeSteps(ctx, b.dev, b.tableau, b.blocks, dst, x, v)
	case *borrowing:
		return true, transposeSteps(ctx, b.dev, b.tableau, b.blocks, dst, x, v)
	case unconstrained:
		return b.pullBack(ctx, s, dst, x, v)
	}
	return false, nil
}

// transposeSteps goes through the steps of the blocks and back.
func transposeSteps(ctx context.Context, dev backend.Device, t rungekutta.Tableau, blocks []deviceBlock, dst, x, v backend.Buffer) error {
	q, memory := &devicequeue.Queue{Dev: dev}, devicequeue.NewPool(dev)
	defer memory.Free()
	lifted := x.Shape()
	lifted.C = blocks[0].filter.Shape().C
	lift := func(image backend.Buffer) backend.Buffer {
		z := memory.Take(q, lifted)
		q.Fill(z, 0)
		q.Channels(z, image)
		return z
	}
	var steps []pullback.Step
	var kept [][]pullback.Stage // of each step
	z := lift(x)
	for _, b := range blocks {
		step := pullback.Step{Tableau: t, Filter: b.filter, Bias: b.bias, Activation: b.activation, Radius: b.balls, Size: b.step}
		for range b.steps {
			if err := ctx.Err(); err != nil {
				return err
			}
			next := memory.Take(q, lifted)
			stages := step.Forward(q, memory, next, z, nil, nil)
			pullback.DropPoints(memory, stages)
			steps, kept = append(steps, step), append(kept, stages)
			z = next
		}
	}
	memory.Give(z)
	g := lift(v)
	for n := len(steps) - 1; n >= 0; n-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		g = steps[n].Back(q, memory, g, kept[n], false)
		pullback.Drop(memory, kept[n], nil)
	}
	q.Channels(dst, g)
	return q.Err
}

func (r relaxed) PullBack(ctx context.Context, dst, x, v backend.Buffer) (bool, error) {
	ok, err := pullBack(ctx, r.Denoiser, dst, x, v)
	if err != nil || !ok {
		return false, err
	}
	return true, r.mix(dst, v)
}

func (r rescaled) PullBack(ctx context.Context, dst, x, v backend.Buffer) (bool, error) {
	dev := r.Device()
	small, err := dev.Alloc(arguments.ShapeOf(x))
	if err != nil {
		return false, err
	}
	defer small.Free()
	if err := dev.LinearCombination(small, backend.Term{A: float32(1 / r.s), X: x}); err != nil {
		return false, err
	}
	return pullBack(ctx, r.Denoiser, dst, small, v)
}

func (g grey) PullBack(ctx context.Context, dst, x, v backend.Buffer) (bool, error) {
	dev := g.Device()
	s := tile.NewScratch(dev)
	defer s.Free()
	shape := arguments.ShapeOf(x)
	shape.C = len(g.copies)
	var wide [3]backend.Buffer
	for i := range wide {
		var err error
		if wide[i], err = s.Alloc(shape); err != nil {
			return false, err
		}
	}
	if err := dev.MixChannels(wide[0], x, g.copies); err != nil {
		return false, err
	}
	// The transpose of copying sums up, that of the mean divides: their order may be
	// exchanged.
	if err := dev.MixChannels(wide[1], v, g.copies); err != nil {
		return false, err
	}
	ok, err := pullBack(ctx, g.Denoiser, wide[2], wide[0], wide[1])
	if err != nil || !ok {
		return false, err
	}
	return true, dev.MixChannels(dst, wide[2], g.mean)
}
