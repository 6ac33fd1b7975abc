// Package vulkan is the backend that computes on GPUs of any vendor, by Vulkan 1.1 and without cgo.
// Devices lists them and Open opens one. Where there is no Vulkan, both return an error that says so,
// and the package compiles everywhere.
//
// # Trust
//
// Drivers of GPUs are known to return wrong pictures now and then. Open compares the operations with
// those of the processor on small arrays, and the first gradient flow after an Upload of an image is
// compared on one tile. What differs by more than rounding explains, a device that is lost, one that
// does not answer and one that fails otherwise is a Fault: who gets one computes on another device.
//
// # Precision and equality of bits
//
// All is computed in float32, and sums that make numbers in float64, on the host where the GPU has
// none. On one GPU and driver an operation has the same bits each time. 3×3 convolutions between more
// than eight channels are made by Winograd's F(2×2, 3×3), so that ConvolutionGrid is 2. Nothing is proven
// of its rounding: drivers may flush subnormal numbers, and fuse products with sums.
//
// # Memory
//
// Buffers come from a pool that never holds more than MemoryLimit. What is beyond that, beyond the GPU,
// or beyond what a shader reaches in one binding is backend.ErrOutOfMemory, so that who can work on
// parts does.
package vulkan
