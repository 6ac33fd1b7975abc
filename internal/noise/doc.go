// Package noise measures what noise an image has, from its samples alone. What is done about it is decided by package
// denoising.
//
// A network says the noise level of each square of 16 pixels (level*.go). It was learned on what comes out of the
// frozen denoisers, in decibels, and not on noise levels (package levellearning): where texture would be lost, in clean
// photographs and in drawings the best level is 0, and in the noise of cameras it is two or three times the standard
// deviation. It has three scales of two convolutions each. What is left of their results for each square are logarithms
// of the mean magnitudes of all channels and of second differences (Bands), in the square, in the whole photograph and
// in the eighth of it where they are lowest, and four counts (Counts). A head of four convolutions at the squares makes
// the levels of them, and says which of two denoisers is to be taken. Nothing in the proof of a denoiser depends on
// this.
//
// White noise has one level, which is measured exactly where the image is flat (white*.go). Impulses are found and
// filled one by one (impulse*.go). tuned.go has all constants that somebody tuned.
package noise
