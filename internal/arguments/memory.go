package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckSameShape returns an error that wraps ErrShape unless all buffers have the first
// one's shape. A device calls it with buffers of its own type.
func CheckSameShape[B backend.Buffer](buffers ...B) error {
	for _, b := range buffers {
		if first := buffers[0].Shape(); b.Shape() != first {
			return fmt.Errorf("%w: %v and %v", backend.ErrShape, first, b.Shape())
		}
	}
	return nil
}

// CheckChannels returns an error that wraps ErrShape unless an array of shape s has N = 1
// and the channels [from, from+count), one at least.
func CheckChannels(s backend.Shape, from, count int) error {
	if s.N != 1 || from < 0 || count < 1 || from > s.C-count {
		return fmt.Errorf("%w: channels %d to %d of %v", backend.ErrShape, from, from+count, s)
	}
	return nil
}

// CheckCopyRegion returns an error that wraps ErrShape unless the arguments of CopyRegion
// go together: batches of the same N, and a region that is not empty and lies inside both
// frames, that of dst with its corner at (y, x).
func CheckCopyRegion(dst backend.Shape, y, x int, src backend.Shape, r backend.Region) error {
	if err := r.Check(src); err != nil {
		return err
	}
	h, w := r.Size()
	if dst.N != src.N || y < 0 || x < 0 || y > dst.H-h || x > dst.W-w {
		return fmt.Errorf("%w: %v of %v to (%d,%d) of %v", backend.ErrShape, r, src, y, x, dst)
	}
	return nil
}

// CheckUpload returns an error that wraps ErrShape unless n numbers fill a buffer of shape
// dst, as Upload and Wrap need.
func CheckUpload(dst backend.Shape, n int) error {
	if n != dst.Len() {
		return fmt.Errorf("%w: %d numbers for a buffer of %v", backend.ErrShape, n, dst)
	}
	return nil
}

// CheckDownload returns an error that wraps ErrShape unless a buffer of shape src holds n
// numbers.
func CheckDownload(n int, src backend.Shape) error {
	if n != src.Len() {
		return fmt.Errorf("%w: %d numbers from a buffer of %v", backend.ErrShape, n, src)
	}
	return nil
}
