// Package devicekit makes a device of its kernels. New's device owns buffers, filters and blurs, and gives
// the kernels operands that are checked. A new device begins with the methods of Kernels, and gets faster
// with those of the other interfaces. Package backendtest tests it.
package devicekit
