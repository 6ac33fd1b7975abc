package backend

// Device is a processor with memory of its own and one ordered stream of work.
// The package comment states what holds for all of its operations.
type Device interface {
	// Description tells a person what the device is.
	Description() Description

	Memory
	Vectors
	Shuffles
	TotalVariation
	Blurring
	Convolutions
	BallProjections
	Gradients

	// Sync waits until all work is done and returns the first error that the
	// device found since the last Sync.
	Sync() error
	// Close waits for the work under way and gives the device back. Buffers need
	// not be freed before. It may return a late error, as Sync does. Every later
	// call returns ErrClosed; a second Close returns nil.
	Close() error
}

// Description of a device, for people and for reports.
type Description struct {
	Name    string // as --backend takes it: "cpu", "cuda:0"
	Model   string // the instruction set or the card: "portable", "NVIDIA H100"
	Threads int    // worker threads on the host; 0 where that means nothing
	Memory  int64  // bytes that Alloc can give in all; 0 if there is no set limit
}

// Buffer is an array in a device's memory. Its contents after Alloc are zero.
type Buffer interface {
	Shape() Shape
	// Free gives the memory back after the work that is already on the stream.
	// Any later use returns ErrFreed; a second Free does nothing.
	Free()
}

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
