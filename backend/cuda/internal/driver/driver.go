// Package driver is all that backend/cuda knows of CUDA: devices, memory, streams,
// kernels and graphs of the CUDA driver API, in about thirty calls. Whoever wants
// another binding changes this package and nothing else.
//
// With the build tag cuda and cgo it is gorgonia.org/cu, and a few calls of the
// driver API that cu lacks. The driver library itself is looked for when the first
// function of this package is called, not when the program starts: a binary runs on
// machines without it, where List and Open return ErrNoDriver. Without the tag they
// always do.
//
// # Contexts and threads
//
// A Device is the primary context of a GPU, retained by Open and released by Close;
// the same GPU may be opened more than once. Every call makes the context current on
// the thread that it runs on, and so a Device is safe for concurrent use, from any
// goroutine. The order of work is that of the calls on one Stream; work on different
// streams is ordered by events only.
//
// # Errors
//
// What the driver reports is an *Error. Work on a stream runs after its call has
// returned, so its errors may come from any later call on the same GPU. After an
// error that is ErrBroken nothing works until every Device of the GPU is closed.
package driver

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrNoDriver: this program or this machine has no CUDA driver, or one that is too old.
	// The error that wraps it says which.
	ErrNoDriver = errors.New("no CUDA driver")
	// ErrNoDevice: there is a driver, but no GPU, or none of this number.
	ErrNoDevice = errors.New("no such CUDA device")
	// ErrOutOfMemory: the GPU, or the host where the memory is the host's, has no room.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrClosed: the Device has been closed.
	ErrClosed = errors.New("CUDA device is closed")
	// ErrBroken: a kernel read or wrote where it must not, or the GPU failed. Memory and
	// work of the context are lost.
	ErrBroken = errors.New("CUDA context is lost")
	// ErrArgument: the call cannot be right, and was not handed to the driver.
	ErrArgument = errors.New("invalid call of the CUDA driver")
)

// Error is an error of the driver.
type Error struct {
	Call string // the function of the driver API: "cuMemAlloc"
	Code int    // a CUresult
	Name string // of the code: "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // what it means
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Call, e.Text, e.Name) }

// Is reports whether the code is one of the kinds ErrOutOfMemory, ErrNoDevice and
// ErrBroken.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrOutOfMemory:
		return e.Code == codeOutOfMemory
	case ErrNoDevice:
		return e.Code == codeNoDevice || e.Code == codeInvalidDevice
	case ErrBroken:
		return broken(e.Code)
	}
	return false
}

// Properties are what List and a Device tell of a GPU.
type Properties struct {
	Ordinal      int    // from 0, in the order of the driver
	Name         string // "NVIDIA H100 80GB HBM3"
	Major, Minor int    // compute capability: 9, 0
	Memory       int64  // bytes in all

	Multiprocessors         int
	SharedPerBlock          int // bytes of static and dynamic shared memory without SetDynamicShared
	SharedPerBlockOptIn     int // bytes with it
	SharedPerMultiprocessor int // bytes of a multiprocessor
	L2                      int // bytes
	ClockKHz                int
	DriverVersion           int // 1000·major + 10·minor of the CUDA version that the driver supports
}

// Capability returns 10·Major + Minor: 90.
func (p Properties) Capability() int { return 10*p.Major + p.Minor }

type (
	// Pointer is an address in a GPU's memory; 0 is none. Alloc aligns to 256 bytes.
	// Adding bytes to it is how one takes a part of an allocation.
	Pointer uint64
	// Stream is a queue of work.
	Stream uintptr
	// Event is a place in the order of work of a stream.
	Event uintptr
	// Module is a loaded set of kernels.
	Module uintptr
	// Graph is a recorded sequence of launches, copies and fills that is started with one call.
	Graph uintptr
)

// Function is a kernel of a module.
type Function struct {
	Name string
	// Parameters is how many arguments Launch wants.
	Parameters int
	// Registers is the number of registers of a thread, Local its bytes of local memory
	// (spills are there), Shared the bytes of static shared memory of a block, and
	// MaxThreads the largest block that the GPU can run it with.
	Registers, Local, Shared, MaxThreads int

	// Owner is the Device that loaded it, and Handle what the driver calls it there.
	Owner  Device
	Handle uintptr
}

// Dim is the extent of a grid or a block. A zero counts as one.
type Dim struct{ X, Y, Z int }

// Arg is the argument of a kernel, whatever its type, as 8 bytes.
type Arg uint64

// Ptr is an argument that the kernel declares as a pointer.
func Ptr(p Pointer) Arg { return Arg(p) }

// Int is an argument that the kernel declares as int.
func Int(v int32) Arg { return Arg(uint32(v)) }

// Long is an argument that the kernel declares as long long.
func Long(v int64) Arg { return Arg(v) }

// Float is an argument that the kernel declares as float.
func Float(v float32) Arg { return Arg(math.Float32bits(v)) }

// HostMemory is pinned memory of the host, which the GPU reads and writes while the
// program goes on. The garbage collector neither moves nor frees it.
type HostMemory interface {
	// Bytes is the memory itself. It must not be used after FreeHost, nor changed or read
	// while a copy from or to it is under way.
	Bytes() []byte
	// Floats is the same memory as float32; bytes beyond the last whole one are left out.
	Floats() []float32
}

// Device is an opened GPU. All methods but Close return ErrClosed after Close.
//
// The methods that take a Stream put their work on it and return; the others do what
// they say at once. Handles of another Device, or that were freed, are the caller's
// mistake: what the driver makes of them is not defined, though the calls that take a
// Function check whose it is.
type Device interface {
	Properties() Properties
	// MemoryInfo returns the bytes of the GPU's memory that are free and that there are,
	// whoever uses them.
	MemoryInfo() (free, total int64, err error)
	// Close waits for the work on all streams of this Device, and releases the context. With the
	// last Device of a GPU goes all that was allocated on it. It returns a late error if there is
	// one. A second Close returns nil.
	Close() error

	// Alloc returns memory of the GPU, whose contents are undefined. bytes must be at least
	// 1. It may wait for work under way.
	Alloc(bytes int64) (Pointer, error)
	// Free gives memory back that Alloc returned. It waits for all work of the GPU, and so
	// is slow; Free(0) does nothing.
	Free(p Pointer) error
	// AllocHost returns pinned memory of the host, whose contents are undefined.
	AllocHost(bytes int64) (HostMemory, error)
	// FreeHost gives it back; work that uses it must be done.
	FreeHost(m HostMemory) error

	// CopyToDevice copies bytes bytes of src from offset on to the GPU.
	CopyToDevice(s Stream, dst Pointer, src HostMemory, offset, bytes int64) error
	// CopyToHost copies bytes bytes from the GPU to dst from offset on. They are there
	// after the stream, or an event behind the copy, has been waited for.
	CopyToHost(s Stream, dst HostMemory, offset int64, src Pointer, bytes int64) error
	// CopyOnDevice copies bytes bytes within the GPU; the ranges must not overlap.
	CopyOnDevice(s Stream, dst, src Pointer, bytes int64) error
	// Fill sets count 4-byte words from dst on, which is a multiple of 4.
	Fill(s Stream, dst Pointer, word uint32, count int64) error

	// NewStream returns a stream that does not wait for the default stream.
	NewStream() (Stream, error)
	// FreeStream gives it back; the work that is on it is still done.
	FreeStream(s Stream) error
	// Synchronize waits until all work on the stream is done.
	Synchronize(s Stream) error

	// NewEvent returns an event; only one with timing can be asked for Elapsed.
	NewEvent(timing bool) (Event, error)
	FreeEvent(e Event) error
	// Record sets e to the place behind all work that is on the stream now.
	Record(s Stream, e Event) error
	// Wait lets the work that is put on s from now on wait for e, as it was last recorded.
	// The program does not wait.
	Wait(s Stream, e Event) error
	// SynchronizeEvent waits until the work before e is done. An event that was never
	// recorded is done.
	SynchronizeEvent(e Event) error
	// Done reports whether the work before e is done.
	Done(e Event) (bool, error)
	// Elapsed returns the milliseconds between two events that are done.
	Elapsed(from, to Event) (float64, error)

	// LoadModule loads kernels from the text of a PTX file, which the driver translates for
	// the GPU (and keeps in a cache of its own).
	LoadModule(ptx []byte) (Module, error)
	// UnloadModule removes the module; its functions must not be used any more.
	UnloadModule(m Module) error
	// Function returns a kernel by its name.
	Function(m Module, name string) (*Function, error)
	// SetDynamicShared allows launches of f with up to bytes bytes of dynamic shared memory.
	// Needed above 48 KiB of shared memory in all; Properties.SharedPerBlockOptIn is the
	// limit.
	SetDynamicShared(f *Function, bytes int) error
	// BlocksPerMultiprocessor returns how many blocks of so many threads and bytes of dynamic
	// shared memory run on a multiprocessor at a time.
	BlocksPerMultiprocessor(f *Function, threads, shared int) (int, error)
	// Launch runs f in grid blocks of block threads each, with shared bytes of dynamic shared
	// memory. The number of arguments must be f.Parameters; their types are the caller's
	// duty. A grid has at most 2³¹−1 × 65535 × 65535 blocks, a block 1024 threads, 64 in z.
	Launch(s Stream, f *Function, grid, block Dim, shared int, args ...Arg) error

	// BeginCapture starts to record the work that is put on s instead of doing it. Until
	// EndCapture the stream takes launches, copies, fills, Record and Wait only, and what is
	// used by them must live as long as the graph.
	BeginCapture(s Stream) error
	// EndCapture ends recording and returns the graph, ready to run.
	EndCapture(s Stream) (Graph, error)
	// LaunchGraph puts the recorded work on s. A graph runs at most once at a time: a second
	// launch waits for the first.
	LaunchGraph(s Stream, g Graph) error
	FreeGraph(g Graph) error
}
