package backend

// Device is a processor with memory of its own and one ordered stream of work. The package comment states the
// rules of all its operations.
type Device interface {
	// Description describes the device to a person.
	Description() Description

	Memory
	Vectors
	Shuffles
	TotalVariation
	Blurring
	Convolutions
	BallProjections
	Layered
	ShuffledFlows
	Gradients

	// Sync waits until all work is done and returns the first error that the
	// device found since the last Sync.
	Sync() error
	// Close waits for the work under way and releases the device. Buffers need not be freed before. It may
	// return a late error, as Sync does. Every later call returns ErrClosed; a second Close returns nil.
	Close() error
}

// Description of a device, for people and for reports.
type Description struct {
	Name    string // as --backend takes it: "cpu", "cuda:0"
	Model   string // the instruction set or the GPU: "portable", "NVIDIA H100"
	Threads int    // worker threads on the host; 0 if there are none
	Memory  int64  // bytes that Alloc can give in total; 0 if there is no set limit
}

// Buffer is an array in a device's memory. Its contents after Alloc are zero.
type Buffer interface {
	Shape() Shape
	// Free gives the memory back after the work that is already on the stream.
	// Any later use returns ErrFreed; a second Free does nothing.
	Free()
}
