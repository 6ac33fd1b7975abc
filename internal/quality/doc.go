// Package quality measures how near an image is to a reference: the mean squared
// error, the peak signal-to-noise ratio, and the structural similarity index.
//
// Images are planar float32 samples, one channel after the other. Nothing is
// clipped or rounded, and sums are made in float64 in an order that depends on
// the shape only.
package quality
