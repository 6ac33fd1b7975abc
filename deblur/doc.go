// Package deblur has blur kernels and the blur operators that they define.
//
// A Kernel comes from numbers (NewKernel), from an image file (KernelFromImage, KernelFromPlanes) or from a
// formula (Motion, Gaussian, Disk, Box, Shake). An Operator is the convolution with a kernel on a device. It
// knows four kinds of Boundary, has an exact adjoint and a proven upper bound of its norm, and computes a
// Wiener estimate to start from.
//
// Everywhere a blur is a convolution, (Kx)[y,x] = Σ k[i,j]·x[y+CY−i, x+CX−j]: a single bright point turns
// into a picture of the kernel, upright, with the kernel's centre (CY, CX) on the point.
package deblur
