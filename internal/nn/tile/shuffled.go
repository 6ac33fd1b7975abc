package tile

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
)

// Whole is a Plan that computes some images as a whole without their shuffled pixels being stored.
type Whole interface {
	Plan
	// TakesWhole tells whether it does so with an image of shape s, of shuffled pixels.
	TakesWhole(s backend.Shape) bool
	// ApplyWhole sets dst = UᵀΦ(U·src) of such an image.
	ApplyWhole(ctx context.Context, dst, src backend.Buffer, factor int) error
}

// Shuffled returns the plan of UᵀΦU, made of the plan p of Φ, where U rearranges
// factor×factor pixels of an image into channels, with zeros where the image ends inside a
// coarse pixel (backend.Shuffles).
func Shuffled(p Plan, dev backend.Device, factor int) Plan { return shuffled{p, dev, factor} }

type shuffled struct {
	Plan
	dev    backend.Device
	factor int
}

// Restart implements Restarting.
func (p shuffled) Restart() {
	if r, ok := p.Plan.(Restarting); ok {
		r.Restart()
	}
}

// Side returns a tile of the fine image for a grid of the fine image.
func (p shuffled) Side(s backend.Shape, grain int) int {
	if w, ok := p.Plan.(Whole); ok && w.TakesWhole(s.Unshuffled(p.factor)) {
		return max(s.H, s.W)
	}
	return p.factor * p.Plan.Side(s.Unshuffled(p.factor), grain/p.factor)
}

// Apply cuts out of the fine image what the region is computed from, with the coarse
// grid where it is in the whole image.
func (p shuffled) Apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	full, q := src.Shape(), p.factor
	coarse := full.Unshuffled(q)
	if w, ok := p.Plan.(Whole); ok && r == full.Whole() && w.TakesWhole(coarse) {
		return w.ApplyWhole(ctx, dst, src, q)
	}
	inner := backend.Region{Y0: r.Y0 / q, Y1: (r.Y1 + q - 1) / q, X0: r.X0 / q, X1: (r.X1 + q - 1) / q}
	cut := p.Layers().Window(inner, p.dev.ConvolutionGrid(), coarse)
	frame := backend.Region{Y0: q * cut.Y0, Y1: min(full.H, q*cut.Y1), X0: q * cut.X0, X1: min(full.W, q*cut.X1)}
	shape := full
	shape.H, shape.W = frame.Size()
	if bytes := 4 * 3 * float64(shape.Unshuffled(q).Len()); bytes > hugeScratch {
		return fmt.Errorf("%w: a window of %d×%d pixels takes %.0f GB", backend.ErrOutOfMemory, shape.H, shape.W, bytes/1e9)
	}
	s := NewScratch(p.dev)
	defer s.Free()
	window := src
	var err error
	plan := p.Plan
	if frame != full.Whole() {
		if c, ok := plan.(Cuttable); ok {
			if plan, err = c.Cut(s, cut); err != nil {
				return err
			}
		}
		if window, err = s.Alloc(shape); err != nil {
			return err
		}
		if err := p.dev.CopyRegion(window, 0, 0, src, frame); err != nil {
			return err
		}
	}
	from, err := s.Alloc(shape.Unshuffled(q))
	if err != nil {
		return err
	}
	if err := p.dev.Unshuffle(from, window, q); err != nil {
		return err
	}
	to, err := s.Alloc(from.Shape())
	if err != nil {
		return err
	}
	if err := plan.Apply(ctx, to, from, Shift(inner, cut)); err != nil {
		return err
	}
	if r == full.Whole() {
		return p.dev.Shuffle(dst, to, q)
	}
	if window == src {
		if window, err = s.Alloc(shape); err != nil {
			return err
		}
	}
	if err := p.dev.Shuffle(window, to, q); err != nil {
		return err
	}
	return p.dev.CopyRegion(dst, r.Y0, r.X0, window, Shift(r, frame))
}
