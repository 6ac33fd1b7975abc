package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckShuffle returns an error that wraps ErrArgument unless the factor is at least 1,
// and one that wraps ErrShape unless the coarse shape belongs to the fine one.
func CheckShuffle(fine, coarse backend.Shape, factor int) error {
	if factor < 1 {
		return fmt.Errorf("%w: pixels shuffled by a factor of %d", backend.ErrArgument, factor)
	}
	if fine.Unshuffled(factor) != coarse {
		return fmt.Errorf("%w: an image %v shuffled by %d into %v", backend.ErrShape, fine, factor, coarse)
	}
	return nil
}
