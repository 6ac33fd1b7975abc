package backend

import "errors"

// The errors of every device, wrapped with a message about what went wrong; test for them with errors.Is.
var (
	// ErrUnsupported: the device cannot do this at all, such as a size that its kernels cannot count or a
	// precision that it lacks. There is no silent substitute: the caller chooses another device.
	ErrUnsupported = errors.New("backend: not supported by this device")
	// ErrOutOfMemory: the device has no room for the buffer. Nothing has changed;
	// a smaller request, such as half the tile, may succeed.
	ErrOutOfMemory = errors.New("backend: out of device memory")
	// ErrClosed: the device has been closed.
	ErrClosed = errors.New("backend: device is closed")
	// ErrFreed: the buffer, filter or blur has been freed.
	ErrFreed = errors.New("backend: use after Free")
	// ErrForeign: the buffer, filter or blur belongs to another device.
	ErrForeign = errors.New("backend: belongs to another device")
	// ErrShape: the shapes do not fit together, or a shape is not positive.
	ErrShape = errors.New("backend: shapes do not fit")
	// ErrAlias: the destination shares memory with a source and must not.
	ErrAlias = errors.New("backend: destination overlaps a source")
	// ErrArgument: a number is outside its range.
	ErrArgument = errors.New("backend: argument out of range")
)
