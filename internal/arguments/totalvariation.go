package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckTVShapes returns an error that wraps ErrShape unless y is one image, u has its shape,
// and p its shape with twice the channels.
func CheckTVShapes(u, p, y backend.Shape) error {
	if y.N != 1 || u != y || p != backend.Image(2*y.C, y.H, y.W) {
		return fmt.Errorf("%w: total variation of %v with u of %v and p of %v", backend.ErrShape, y, u, p)
	}
	return nil
}
