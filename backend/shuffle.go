package backend

import "math"

// Shuffles rearrange the pixels of an image into channels of fewer pixels, and back: PyTorch's
// pixel_unshuffle and pixel_shuffle (Shi et al. 2016), for images of any size. For a factor q ≥ 1 a fine
// array of C channels of H×W pixels corresponds to a coarse array of q²C channels of ⌈H/q⌉×⌈W/q⌉ pixels:
//
//	coarse[n, c·q² + dy·q + dx, y, x] = fine[n, c, q·y+dy, q·x+dx].
//
// Numbers are copied unchanged. Each operation is the adjoint of the other, and Shuffle undoes Unshuffle. The
// arrays may have any batch size N, and share no memory. Unshuffled returns the matching shape.
type Shuffles interface {
	// Unshuffle sets the coarse array dst from the fine array src. Coarse pixels beyond the fine image are 0:
	// an isometry.
	Unshuffle(dst, src Buffer, factor int) error
	// Shuffle sets the fine array dst from the coarse array src, without the pixels beyond the fine image: a
	// projection, up to the order of the numbers.
	Shuffle(dst, src Buffer, factor int) error
}

// Unshuffled returns the shape of the coarse array for the fine shape s. The factor must be at least 1. An
// extent that does not fit an int becomes 0, which Check refuses.
func (s Shape) Unshuffled(factor int) Shape {
	if factor > math.MaxInt/factor || s.C > math.MaxInt/(factor*factor) {
		s.C = 0
	} else {
		s.C *= factor * factor
	}
	s.H, s.W = (s.H-1)/factor+1, (s.W-1)/factor+1
	return s
}
