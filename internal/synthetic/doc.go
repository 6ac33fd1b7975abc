// Package synthetic makes pictures and damages them, for measuring and for training: drawings and
// screenshots, tints, exposure, ranges of values, white noise, noise in brightness alone, and impulse
// noise. Package cameranoise has what a camera does, JPEG included.
//
// A picture is planar: one plane of grey or three of red, green and blue, each of h rows of w samples,
// where 0 is black and 1 is white, in sRGB's encoding. Functions return new slices and never change
// their arguments. Equal arguments give equal results.
package synthetic
