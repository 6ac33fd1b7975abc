// Package operator defines linear operators on images, composes, masks and widens them, adapts
// those that work on the host, and estimates their norms.
package operator
