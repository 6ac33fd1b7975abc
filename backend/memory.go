package backend

import "fmt"

// Memory moves arrays to and from the device.
type Memory interface {
	// Alloc returns a new buffer full of zeros. It fails with ErrOutOfMemory when
	// there is no room.
	Alloc(s Shape) (Buffer, error)
	// Channels returns a view of channels [from, from+count) of an array with
	// N = 1. The view shares the memory; freeing the view does not free it, and
	// after the array is freed the view returns ErrFreed.
	Channels(b Buffer, from, count int) (Buffer, error)
	// CopyRegion copies the pixels of region r of src to dst, with the region's corner
	// at (y, x) there: the first channels, as many as both arrays have, of every batch
	// entry. All else in dst stays. The arrays have the same N and share no memory; a
	// region that is empty or leaves the frame of either is ErrShape.
	CopyRegion(dst Buffer, y, x int, src Buffer, r Region) error
	// Upload copies src, of length dst.Shape().Len(), to the device; src may be
	// changed as soon as Upload returns.
	Upload(dst Buffer, src []float32) error
	// Download waits and copies src to dst, of length src.Shape().Len().
	Download(dst []float32, src Buffer) error
}

// HostMemory is implemented by devices that can compute in the host's memory.
type HostMemory interface {
	// Wrap returns a buffer of the given shape whose elements are data, of length
	// s.Len(): no copy is made, operations write into data, and Free leaves it
	// alone.
	Wrap(s Shape, data []float32) (Buffer, error)
}

// CheckChannels returns an error that wraps ErrShape unless an array of shape s has N = 1
// and the channels [from, from+count), one at least.
func CheckChannels(s Shape, from, count int) error {
	if s.N != 1 || from < 0 || count < 1 || from > s.C-count {
		return fmt.Errorf("%w: channels %d to %d of %v", ErrShape, from, from+count, s)
	}
	return nil
}

// CheckCopyRegion returns an error that wraps ErrShape unless the arguments of CopyRegion
// go together: batches of the same N, and a region that is not empty and lies inside both
// frames, that of dst with its corner at (y, x).
func CheckCopyRegion(dst Shape, y, x int, src Shape, r Region) error {
	if err := r.Check(src); err != nil {
		return err
	}
	h, w := r.Size()
	if dst.N != src.N || y < 0 || x < 0 || y > dst.H-h || x > dst.W-w {
		return fmt.Errorf("%w: %v of %v to (%d,%d) of %v", ErrShape, r, src, y, x, dst)
	}
	return nil
}

// CheckUpload returns an error that wraps ErrShape unless n numbers fill a buffer of shape
// dst, as Upload and Wrap need.
func CheckUpload(dst Shape, n int) error {
	if n != dst.Len() {
		return fmt.Errorf("%w: %d numbers for a buffer of %v", ErrShape, n, dst)
	}
	return nil
}

// CheckDownload returns an error that wraps ErrShape unless a buffer of shape src holds n
// numbers.
func CheckDownload(n int, src Shape) error {
	if n != src.Len() {
		return fmt.Errorf("%w: %d numbers from a buffer of %v", ErrShape, n, src)
	}
	return nil
}
