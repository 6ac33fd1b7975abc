// Package devicekit holds what makers of devices share, and nobody else needs: the
// checks of every operation's arguments, and GradientFlow made of the other operations.
//
// A check looks at shapes and numbers. Whether buffers belong to the device, are alive and
// share memory is for the device to find out; package backendtest tests that it does.
package devicekit
