package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckBlur returns an error that wraps ErrShape unless the blur s of image has the shape
// of result: H×W pixels become those of Range, and N and C stay. It is the same for the
// adjoint, which makes image from result.
func CheckBlur(s backend.BlurSpec, image, result backend.Shape) error {
	h, w := s.Range()
	if image.H != s.H || image.W != s.W || result != (backend.Shape{N: image.N, C: image.C, H: h, W: w}) {
		return fmt.Errorf("%w: a blur of %d×%d to %d×%d between %v and %v", backend.ErrShape, s.H, s.W, h, w, image, result)
	}
	return nil
}
