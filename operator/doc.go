// Package operator says what a linear operator on images is, composes operators, adapts those
// that work on the host, and estimates their norms.
package operator
