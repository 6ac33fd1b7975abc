// Package webgpu is the backend that computes on the GPU of a browser, from Go compiled to WebAssembly.
// Open asks the browser for an adapter and compares it with the processor. On other platforms the package
// is empty.
//
// # Trust
//
// As package vulkan does, Open compares the operations with those of the processor on small arrays, and
// the first gradient flow after an Upload of an image is compared on one tile. What differs by more than
// rounding explains, a device that is lost and a browser that reports an error is a Fault: who gets one
// computes on another device. Adapters that compute in software are refused, unless Software asks for them.
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
