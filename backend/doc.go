// Package backend defines a compute device: buffers with an explicit lifetime, one ordered stream of work,
// and a few fused operations.
//
// Arrays are float32, planar, in the order batch, channel, row, column (NCHW), and contiguous. An operation
// is put on the device's stream and may return before it is done. Operations on one device happen in the
// order of their calls. Only Download, Reduce, the operations that return a number, and Sync wait, and only
// they report errors that the device found late. On a device that computes on the host (package cpu) an
// operation is done when its call returns.
//
// # Aliasing
//
// Operations that work element by element (LinearCombination, Multiply, Clip, MixChannels), and others whose
// comment says so, accept a destination that is one of their sources, as the same buffer or as a view of the
// same memory. Memory that is shared in part is ErrAlias. Sources may share memory among themselves, except
// in TotalVariation. For all other operations the destination must not share memory with a source; otherwise
// they return ErrAlias. Overlaps tells in advance.
//
// # Equality of bits
//
// On one device an operation gives the same bits for any number of threads. Between devices, and between the
// instruction sets of one processor, results differ by rounding; package backendtest states the limits.
// Gaussian is the exception: it gives the same bits everywhere.
//
// # Concurrency
//
// A Device is safe for concurrent use: calls from several goroutines are put in some order. A Buffer, a
// Filter or a Blur is safe for concurrent reading. While one goroutine writes to it, no other may use it.
//
// # Making a device
//
// Package devicekit makes a device of its kernels and checks their arguments. Package backendtest is the
// suite that a device passes.
package backend
