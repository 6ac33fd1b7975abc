// Package fft has discrete Fourier transforms of real images in float32, and
// convolutions made with them.
//
// # Layout
//
// One-dimensional transforms work on 16 lines at a time: element n of all of them
// is one record, 16 real parts and then 16 imaginary parts, so that every step is
// the same for 16 numbers that lie side by side, which suits the caches today and
// vector instructions as well.
//
// Rows come first. Two real rows make one complex line, so a block of 32 rows is
// 16 lines; their spectra are told apart by symmetry, and of each the half with
// frequencies 0…⌊w/2⌋ is kept. These are stored as records of 16 columns in one
// row, group by group of columns, so that the column transform of a group finds
// all it needs in one piece of memory and works there in place. A convolution
// multiplies each group with the kernel's spectrum and transforms it back while
// it is still in the cache.
//
// Transforms decimate in frequency on the way there and in time on the way back
// (Gentleman and Sande 1966, Cooley and Tukey 1965). They leave the frequencies in
// digit-reversed order, in which a convolution needs no reordering at all.
//
// # Accuracy
//
// Roots of unity are computed in float64. Against a transform in float64 the error
// of a spectrum, relative in the Euclidean norm, stays below 3·10⁻⁷ for sizes up
// to some thousands whose prime factors are at most 5; a large prime factor p adds
// about p·10⁻⁸.
package fft
