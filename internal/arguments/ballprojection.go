package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckBalls returns an error that wraps ErrShape unless the shape of the radii is that of
// R groups of a shape's channels: a vector or a map.
func CheckBalls(s, radius backend.Shape) error {
	r := radius.Len()
	if radius != backend.Vector(r) {
		if r = radius.C; radius != (backend.Shape{N: s.N, C: r, H: s.H, W: s.W}) {
			return fmt.Errorf("%w: radii %v, neither a vector nor a map for %v", backend.ErrShape, radius, s)
		}
	}
	if r < 1 || s.C%r != 0 {
		return fmt.Errorf("%w: radii %v for groups of %d channels", backend.ErrShape, radius, s.C)
	}
	return nil
}
