// Package arguments checks the arguments of the operations of backend.Device. An error wraps one of package
// backend's, such as ErrShape.
package arguments
