// Package vulkan is the backend that computes on GPUs of any vendor, by Vulkan 1.1 and without cgo. Devices
// lists them and Open opens one. The package compiles everywhere. Without Vulkan, both return an error that
// says so.
//
// # Trust
//
// Drivers of GPUs are known to return wrong pictures now and then. Open compares the operations with those of
// the processor on small arrays. After each Upload of an image, the first gradient flow, convolution, adjoint and
// iteration of total variation are compared on one tile. Before an image is downloaded, a small convolution is
// repeated. A Fault is a result that differs by more than rounding explains, a device that is lost or does not
// answer, or any other failure. After a Fault the caller should use another device.
//
// # Precision and equality of bits
//
// All is computed in float32, unless UsePrecision asks for convolutions whose factors are in half precision. Sums of
// Reduce are in float64, on the host if the GPU has none. On one GPU and
// driver an operation has the same bits each time. Convolutions are direct sums, made channel after channel and
// tap after tap, wherever the pixel lies, so ConvolutionGrid is 1. A fused gradient flow has the bits of its layers:
// sums of products are fma, and drivers may not fuse anything else, or reorder. Vulkan lets a driver choose
// how it makes quotients and roots; those of a projection are the same expressions in all kernels. Nothing is
// proven about the rounding: drivers may flush subnormal numbers.
//
// # Memory
//
// Buffers come from a pool that never holds more than nine tenths of the memory that was free when the device was
// opened. A request beyond that, beyond the GPU, or beyond the range of one binding of a shader is
// backend.ErrOutOfMemory, so that a caller can try parts of the image.
package vulkan
