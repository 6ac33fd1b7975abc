// Package backend says what a compute device is: buffers with an explicit
// lifetime, one ordered stream of work, and a few fused operations.
//
// Arrays are float32, planar, in the order batch, channel, row, column (NCHW),
// and contiguous. An operation is put on the device's stream and may return
// before it is done; operations on one device happen in the order in which they
// were called. Only Download, Reduce, the operations that return a number, and
// Sync wait, and only they report errors that the device found late. A device
// that computes on the host (package cpu) is done when a call returns.
//
// # Aliasing
//
// Operations that work element by element (LinearCombination, Multiply, Clip,
// MixChannels), and others whose comment says so, accept a destination that is
// one of their sources: the same memory, be it through two views; memory that is
// shared in part is ErrAlias. Sources may share memory among themselves, except
// in TotalVariation. All others need a destination that shares no memory with
// a source, and return ErrAlias where it does. Overlaps tells who wants to know before.
//
// # Equality of bits
//
// On one device an operation gives the same bits whatever the number of
// threads. Between devices, and between the instruction sets of one processor,
// results differ by rounding: package backendtest states by how much. Gaussian
// is the exception: it gives the same bits everywhere.
//
// # Concurrency
//
// A Device is safe for concurrent use: calls from several goroutines are put in
// some order. A Buffer, a Filter or a Blur is safe for concurrent reading; who
// writes to one must be the only one to use it at that time.
//
// # Making a device
//
// Package devicekit makes a device of its kernels, which get arguments that have been checked; package
// backendtest is the suite that a device passes.
package backend
