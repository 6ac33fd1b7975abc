// Package arguments checks the arguments of the operations of backend.Device. An error of an operation wraps one
// of package backend's, such as ErrShape.
package arguments
