// Package operator defines linear operators on images, composes them, adapts those
// that work on the host, and estimates their norms.
package operator
