package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/denoise/tile"
)

// pullBack sets dst = J(x)ᵀv of a denoiser that can do it (refute.Differentiable).
func pullBack(ctx context.Context, d Denoiser, dst, x, v backend.Buffer) (bool, error) {
	if t, ok := d.(refute.Differentiable); ok {
		return t.PullBack(ctx, dst, x, v)
	}
	return false, nil
}

var _ = []refute.Differentiable{(*Network)(nil), relaxed{}, rescaled{}, grey{}}

// PullBack implements refute.Differentiable. It holds the whole image with all of its layers.
// BackwardEuler has no way to do it.
func (n *Network) PullBack(ctx context.Context, dst, x, v backend.Buffer) (bool, error) {
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
		return transposeSteps(ctx, s, b.tableau, b.blocks, dst, x, v)
	case *rungeKutta:
		return transposeSteps(ctx, s, b.tableau, b.blocks, dst, x, v)
	case unconstrained:
		return b.pullBack(ctx, s, dst, x, v)
	}
	return false, nil
}

// transposeSteps goes through the steps and back. With w_i and y_i the gradients with
// respect to k_i and Y_i,
//
//	w_i = −h(B[i]·v + Σ_m A[m][i]·y_m),   y_i = AᵀD_iA·w_i,   v ← v + Σ_i y_i,
//
// where D_i is the derivative of σ at AY_i + b, which is symmetric.
func transposeSteps(ctx context.Context, s *tile.Scratch, t rungekutta.Tableau, blocks []deviceBlock, dst, x, v backend.Buffer) (bool, error) {
	if blocks[0].clip {
		return false, nil // devices have no derivative of it
	}
	dev := s.Dev
	like := x.Shape()
	like.C = blocks[0].filter.Shape().C
	arrays := make([]backend.Buffer, 2+t.Stages())
	for i := range arrays {
		var err error
		if arrays[i], err = s.Alloc(like); err != nil {
			return false, err
		}
	}
	z, w, y := arrays[0], arrays[1], arrays[2:]
	frame := x.Shape().Whole()
	if err := dev.CopyRegion(z, 0, 0, x, frame); err != nil {
		return false, err
	}
	// Forward, with what the derivative of σ needs of every stage kept.
	var kept []backend.Buffer
	for _, b := range blocks {
		shape := like
		shape.C = b.hidden()
		var projected backend.Buffer
		if b.balls != nil {
			var err error
			if projected, err = s.Alloc(shape); err != nil {
				return false, err
			}
		}
		for range b.steps {
			for i := range t.Stages() {
				if err := ctx.Err(); err != nil {
					return false, err
				}
				// Y_i is made in w, from k_j = y[j].
				if err := combine(dev, w, z, -float64(b.step), t.A[i][:i], y); err != nil {
					return false, err
				}
				u, err := s.Alloc(shape)
				if err != nil {
					return false, err
				}
				kept = append(kept, u)
				out, err := b.keep(dev, u, projected, w)
				if err != nil {
					return false, err
				}
				if err := dev.ConvolveAdjoint(y[i], out, b.filter, 0, 1); err != nil {
					return false, err
				}
			}
			if err := combine(dev, z, z, -float64(b.step), t.B, y); err != nil {
				return false, err
			}
		}
		if projected != nil {
			projected.Free()
		}
	}
	// Backward, with v in z.
	if err := dev.Fill(z, 0); err != nil {
		return false, err
	}
	if err := dev.CopyRegion(z, 0, 0, v, frame); err != nil {
		return false, err
	}
	for n := len(blocks) - 1; n >= 0; n-- {
		b := blocks[n]
		shape := like
		shape.C = b.hidden()
		t1, err := s.Alloc(shape)
		if err != nil {
			return false, err
		}
		for range b.steps {
			for i := t.Stages() - 1; i >= 0; i-- {
				if err := ctx.Err(); err != nil {
					return false, err
				}
				h := float64(b.step)
				if err := dev.LinearCombination(w, backend.Term{A: float32(-h * t.B[i]), X: z}); err != nil {
					return false, err
				}
				for m := i + 1; m < t.Stages(); m++ {
					if a := t.A[m][i]; a != 0 {
						if err := dev.LinearCombination(w, backend.Term{A: 1, X: w}, backend.Term{A: float32(-h * a), X: y[m]}); err != nil {
							return false, err
						}
					}
				}
				if err := dev.Convolve(t1, w, b.filter, backend.ConvEnd{}); err != nil {
					return false, err
				}
				u := kept[len(kept)-1]
				kept = kept[:len(kept)-1]
				if err := b.derivative(s, t1, u); err != nil {
					return false, err
				}
				u.Free()
				if err := dev.ConvolveAdjoint(y[i], t1, b.filter, 0, 1); err != nil {
					return false, err
				}
			}
			for i := range t.Stages() {
				if err := dev.LinearCombination(z, backend.Term{A: 1, X: z}, backend.Term{A: 1, X: y[i]}); err != nil {
					return false, err
				}
			}
		}
		t1.Free()
	}
	return true, dev.CopyRegion(dst, 0, 0, z, frame)
}

// keep sets u to what the derivative of σ at Az + b needs, and returns σ(Az + b): u itself,
// or projected where σ is a projection onto balls, whose derivative needs Az + b.
func (b deviceBlock) keep(dev backend.Device, u, projected, z backend.Buffer) (backend.Buffer, error) {
	if b.balls == nil {
		return u, b.forward(dev, u, z)
	}
	if err := dev.Convolve(u, z, b.filter, backend.ConvEnd{Bias: b.bias}); err != nil {
		return nil, err
	}
	return projected, dev.ProjectBalls(projected, u, b.balls)
}

// derivative sets v = σ'·v, given what was kept of the stage.
func (b deviceBlock) derivative(s *tile.Scratch, v, kept backend.Buffer) error {
	if b.balls == nil {
		return s.Dev.ActivationGradient(v, kept, v, b.activation)
	}
	unused, err := s.Alloc(b.balls.Shape())
	if err != nil {
		return err
	}
	defer unused.Free()
	return s.Dev.ProjectBallsGradient(v, unused, kept, v, b.balls, 0)
}

// combine sets dst = z + h·Σ a_j·k_j. dst may be z.
func combine(dev backend.Device, dst, z backend.Buffer, h float64, a []float64, k []backend.Buffer) error {
	if dst != z {
		if err := dev.LinearCombination(dst, backend.Term{A: 1, X: z}); err != nil {
			return err
		}
	}
	for j, v := range a {
		if v == 0 {
			continue
		}
		if err := dev.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: float32(h * v), X: k[j]}); err != nil {
			return err
		}
	}
	return nil
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
	small, err := dev.Alloc(x.Shape())
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
	shape := x.Shape()
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
