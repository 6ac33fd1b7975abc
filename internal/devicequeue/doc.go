// Package devicequeue puts operations on a device so that code reads as its formulas do, and lends
// it buffers.
package devicequeue
