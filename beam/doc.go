// Package beam is the root of a module of its own, so that the toolkit itself does not take on Apache
// Beam: package batch has the pipeline, and restore-beam is the command.
package beam
