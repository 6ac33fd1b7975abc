package backend

// Memory moves arrays to and from the device.
type Memory interface {
	// Alloc returns a new buffer full of zeros. It fails with ErrOutOfMemory when
	// there is no room.
	Alloc(s Shape) (Buffer, error)
	// Channels returns a view of channels [from, from+count) of an array with
	// N = 1. The view shares the memory; freeing the view does not free it, and
	// after the array is freed the view returns ErrFreed.
	Channels(b Buffer, from, count int) (Buffer, error)
	// Overlaps tells whether two buffers share memory, in whole or in part: a buffer and itself, an array and
	// its views, or views with a channel in common. It compares only their positions and does not wait.
	Overlaps(a, b Buffer) (bool, error)
	// CopyRegion copies the pixels of region r of src to dst, with the region's corner at (y, x) there. It
	// copies the first channels, as many as both arrays have, of every batch entry. The rest of dst stays.
	// The arrays have the same N and share no memory. A region that is empty or leaves the frame of either is
	// ErrShape.
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
