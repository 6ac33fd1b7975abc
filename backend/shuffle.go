package backend

import "math"

// Shuffles rearrange the pixels of an image into channels of fewer pixels, and back:
// PyTorch's pixel_unshuffle and pixel_shuffle (Shi et al. 2016), for images of any size.
// With a factor q ≥ 1 an array of C channels of H×W pixels, the fine one, belongs to
// one of q²C channels of ⌈H/q⌉×⌈W/q⌉, the coarse one:
//
//	coarse[n, c·q² + dy·q + dx, y, x] = fine[n, c, q·y+dy, q·x+dx].
//
// Numbers are copied as they are. Each operation is the adjoint of the other, and
// Shuffle undoes Unshuffle. The arrays may have any batch size N, and share no memory;
// Unshuffled says what shapes belong together.
type Shuffles interface {
	// Unshuffle sets dst, the coarse array, from src, the fine one. Coarse pixels that lie
	// beyond the fine image are 0: an isometry.
	Unshuffle(dst, src Buffer, factor int) error
	// Shuffle sets dst, the fine array, from src, the coarse one, whose pixels beyond the
	// fine image are left out: a projection, but for the order of the numbers.
	Shuffle(dst, src Buffer, factor int) error
}

// Unshuffled returns the shape of the coarse array that belongs to the fine shape s. The
// factor must be at least 1; what does not fit an int is an extent of 0, which Check
// refuses.
func (s Shape) Unshuffled(factor int) Shape {
	if q2 := factor * factor; factor > math.MaxInt32 || s.C > 0 && q2*s.C/s.C != q2 {
		s.C = 0
	} else {
		s.C *= q2
	}
	s.H, s.W = (s.H-1)/factor+1, (s.W-1)/factor+1
	return s
}
