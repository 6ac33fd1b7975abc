// Package upscale has the operator of super-resolution, a blur and downsampling, the blurs that
// come before it, and interpolation for a start.
package upscale
