package denoise

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/nn/tile"
)

// A network with Model.Shuffle is UᵀΦU, where U rearranges the pixels of an image into
// channels of fewer pixels, with zeros where the image ends inside a coarse pixel
// (backend.Shuffles). U is an isometry, and UᵀΦU keeps every constant of Φ.

// aroundBlocks returns the float32s for a coarse pixel that shuffled keeps at most
// besides what the blocks do.
func (m Model) aroundBlocks() int {
	if m.factor() == 1 {
		return 0
	}
	return 3 * m.lifted()
}

// transposeShuffled sets dst = Uᵀ·J(Ux)ᵀ·Uv, where inner does as PullBack does for the
// blocks.
func transposeShuffled(s *tile.Scratch, q int, dst, x, v backend.Buffer, inner func(dst, x, v backend.Buffer) (bool, error)) (bool, error) {
	var coarse [3]backend.Buffer
	for i := range coarse {
		var err error
		if coarse[i], err = s.Alloc(x.Shape().Unshuffled(q)); err != nil {
			return false, err
		}
	}
	if err := s.Dev.Unshuffle(coarse[1], x, q); err != nil {
		return false, err
	}
	if err := s.Dev.Unshuffle(coarse[2], v, q); err != nil {
		return false, err
	}
	if ok, err := inner(coarse[0], coarse[1], coarse[2]); err != nil || !ok {
		return false, err
	}
	return true, s.Dev.Shuffle(dst, coarse[0], q)
}
