// Package deblur has blur kernels and the blur operators that they define.
//
// A Kernel comes from numbers (NewKernel), from an image file (KernelFromImage,
// KernelFromPlanes) or from a formula (Motion, Gaussian, Disk, Box, Shake). An
// Operator is the convolution with a kernel on a device, for one of four ways
// in which the scene goes on beyond the photograph, with its exact adjoint, an
// upper bound of its norm that is a proof, and a Wiener estimate for a start.
//
// Everywhere a blur is a convolution, (Kx)[y,x] = Σ k[i,j]·x[y+CY−i, x+CX−j]: a
// single bright point turns into a picture of the kernel, upright, with the
// kernel's centre (CY, CX) on the point.
package deblur
