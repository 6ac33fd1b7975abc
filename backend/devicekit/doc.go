// Package devicekit makes a device of its kernels. New's device owns buffers, filters and blurs, checks
// the arguments of every operation, and does what the kernels lack by those that they have: so a new
// device begins with the methods of Kernels, and gets faster with those of the other interfaces.
// Package backendtest tests it.
package devicekit
