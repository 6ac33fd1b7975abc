// Package cuda is the backend that computes on NVIDIA GPUs. Open opens one; Devices lists them. The package
// compiles everywhere. Without the build tag cuda, without a driver and without a GPU both return an error
// that says which of these is missing.
//
// # Precision
//
// Convolutions with 3×3 filters run on tensor cores from compute capability 8.0 on. By default they are as
// accurate as sums in float32: every factor is the sum of two TF32 numbers, and only the product of the two
// small parts is left out. The options TF32 and Half leave out more; see Precision. Everything else is
// computed in float32, except for sums in float64: those of Reduce and TVEvaluate, gradients of biases and of
// radii, and gradients of filters beyond a few thousand pixels.
//
// # The same bits
//
// On one GPU an operation gives the same bits on every run: sums are made in an order that depends on shapes
// only, and nothing is added up atomically. Every pixel of a convolution is computed by the same operations,
// so ConvolutionGrid is 1. Gaussian gives the same bits as on every other device.
//
// # Memory
//
// Buffers, filters and scratch come from an allocator that reuses freed memory without waiting for the GPU.
// It never holds more than MemoryLimit. A request beyond that limit, or beyond the GPU, is
// backend.ErrOutOfMemory. An image may have at most 2³¹−1 pixels in a channel, and as many channels in all of
// its batch; larger ones are ErrOutOfMemory too, so that a caller can try parts of the image.
package cuda
