package denoise

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
)

// A network with Model.Shuffle is UᵀΦU, where U rearranges the pixels of an image into
// channels of fewer pixels, with zeros where the image ends inside a coarse pixel
// (backend.Shuffles). U is an isometry, and UᵀΦU keeps every constant of Φ.

// shuffled is the plan of UᵀΦU, made of the plan of Φ.
type shuffled struct {
	plan
	dev    backend.Device
	factor int
}

// side returns a tile of the fine image for a grid of the fine image.
func (p shuffled) side(s backend.Shape, grain int) int {
	return p.factor * p.plan.side(s.Unshuffled(p.factor), grain/p.factor)
}

// apply cuts out of the fine image what the region is computed from, with the coarse
// grid where it is in the whole image.
func (p shuffled) apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	full, q := src.Shape(), p.factor
	coarse := full.Unshuffled(q)
	inner := backend.Region{Y0: r.Y0 / q, Y1: (r.Y1 + q - 1) / q, X0: r.X0 / q, X1: (r.X1 + q - 1) / q}
	cut := p.layers().window(inner, p.dev.ConvolutionGrid(), coarse)
	frame := backend.Region{Y0: q * cut.Y0, Y1: min(full.H, q*cut.Y1), X0: q * cut.X0, X1: min(full.W, q*cut.X1)}
	shape := full
	shape.H, shape.W = frame.Size()
	if bytes := 4 * 3 * float64(shape.Unshuffled(q).Len()); bytes > hugeScratch {
		return fmt.Errorf("%w: a window of %d×%d pixels takes %.0f GB", backend.ErrOutOfMemory, shape.H, shape.W, bytes/1e9)
	}
	s := &scratch{dev: p.dev}
	defer s.free()
	window := src
	var err error
	if frame != full.Whole() {
		if window, err = s.alloc(shape); err != nil {
			return err
		}
		if err := p.dev.CopyRegion(window, 0, 0, src, frame); err != nil {
			return err
		}
	}
	from, err := s.alloc(shape.Unshuffled(q))
	if err != nil {
		return err
	}
	if err := p.dev.Unshuffle(from, window, q); err != nil {
		return err
	}
	to, err := s.alloc(from.Shape())
	if err != nil {
		return err
	}
	if err := p.plan.apply(ctx, to, from, shift(inner, cut)); err != nil {
		return err
	}
	if r == full.Whole() {
		return p.dev.Shuffle(dst, to, q)
	}
	if window == src {
		if window, err = s.alloc(shape); err != nil {
			return err
		}
	}
	if err := p.dev.Shuffle(window, to, q); err != nil {
		return err
	}
	return p.dev.CopyRegion(dst, r.Y0, r.X0, window, shift(r, frame))
}

// shift returns the region as it lies in a frame that was cut out.
func shift(r, frame backend.Region) backend.Region {
	return backend.Region{Y0: r.Y0 - frame.Y0, Y1: r.Y1 - frame.Y0, X0: r.X0 - frame.X0, X1: r.X1 - frame.X0}
}

// aroundBlocks returns the float32s for a coarse pixel that shuffled keeps at most
// besides what the blocks do.
func (m Model) aroundBlocks() int {
	if m.factor() == 1 {
		return 0
	}
	return 3 * m.lifted()
}

// transposeShuffled sets dst = Uᵀ·J(Ux)ᵀ·Uv, where inner does as transpose does for the
// blocks.
func transposeShuffled(s *scratch, q int, dst, x, v backend.Buffer, inner func(dst, x, v backend.Buffer) (bool, error)) (bool, error) {
	var coarse [3]backend.Buffer
	for i := range coarse {
		var err error
		if coarse[i], err = s.alloc(x.Shape().Unshuffled(q)); err != nil {
			return false, err
		}
	}
	if err := s.dev.Unshuffle(coarse[1], x, q); err != nil {
		return false, err
	}
	if err := s.dev.Unshuffle(coarse[2], v, q); err != nil {
		return false, err
	}
	if ok, err := inner(coarse[0], coarse[1], coarse[2]); err != nil || !ok {
		return false, err
	}
	return true, s.dev.Shuffle(dst, coarse[0], q)
}
