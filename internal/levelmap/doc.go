// Package levelmap is the network that decides what is noise: it sees a photograph and says, for each square
// of 16 pixels, which noise level the guide of a denoiser is to be told, and which of two denoisers is to
// be taken. It was learned on what comes out of the frozen denoisers, in decibels, and not on noise levels:
// where texture would be lost, in clean photographs and in drawings the best level is 0, in the noise of
// cameras it is two or three times the standard deviation (package train, LevelNet).
//
// Nothing in the proof of a denoiser depends on the map: radii may come from anywhere (package denoise).
//
// The network has three scales of two convolutions each. What is left of it for each square are logarithms of
// the mean magnitudes of all channels and of second differences (Bands), in the square, in the whole photograph and in the eighth of it where they are
// lowest, and four counts (Counts).
// A head of four convolutions at the squares makes the levels of them.
package levelmap
