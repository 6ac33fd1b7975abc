// Package webgpu is the backend that computes on the GPU of a browser, from Go compiled to WebAssembly.
// Open asks the browser for an adapter and compares it with the processor. On other platforms the package
// is empty.
//
// # Trust
//
// Results are compared with the processor's, as package vulkan does. A Fault is a result that differs by more
// than rounding explains, a device that is lost, or an error that the browser reports. After a Fault the caller
// should use another device. Adapters that compute in software are refused, unless Software asks for them.
//
// # Waiting
//
// A browser answers by promises, which are kept only while Go's goroutines all wait. Methods that need an
// answer block their goroutine, so that none may be called by a callback of JavaScript (js.FuncOf).
//
// # Precision and equality of bits
//
// All is computed in float32, and sums that make numbers in float64 on the host. A pixel of a convolution
// is made of the same operations wherever it lies, so that ConvolutionGrid is 1. Nothing is proven of its
// rounding: a browser may flush subnormal numbers, fuse products with sums, and assume that there is no NaN.
package webgpu
