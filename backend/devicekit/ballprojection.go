package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckBalls returns an error that wraps ErrShape unless the shape of the radii is that of
// R groups of a shape's channels.
func CheckBalls(s, radius backend.Shape) error {
	if r := radius.Len(); radius != backend.Vector(r) || r < 1 || s.C%r != 0 {
		return fmt.Errorf("%w: radii %v for groups of %d channels", backend.ErrShape, radius, s.C)
	}
	return nil
}
