// Package strength holds the rules that say how strong a prior is to be for an image's noise,
// blur and detail: one file for each, with what it was fitted to, the range in which it is
// known to be good, and a test. All are plain functions of numbers; tv, deblur and restore
// apply them. Standard deviations are in units of the full intensity range.
package strength
