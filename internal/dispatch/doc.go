// Package dispatch makes a device of compute shaders: it computes every operation by dispatches of them. A
// backend brings a GPU, which is a driver with its memory and its shaders. Results are compared with the
// processor's by internal/selftest.
package dispatch
