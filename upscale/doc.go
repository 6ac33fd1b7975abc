// Package upscale has the operator of super-resolution (a blur and downsampling), blurs for it, and
// interpolation to start iterations from.
package upscale
