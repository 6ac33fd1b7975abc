// Package strength holds the rules that say how strong a prior is to be for an image's noise, blur and detail: a file
// for each task, and in fits.go their numbers, with what each was fitted to and where it is known to be good. All are
// plain functions of numbers; tv, deblur, train and the packages of restore apply them. Standard deviations are in
// units of the full intensity range.
package strength
