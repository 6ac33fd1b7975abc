// Package devicekit holds what makers of devices share: the checks of every operation's
// arguments, and GradientFlow and layers of networks made of the other operations. Nobody else
// needs it, but for LayersOneByOne, which takes the place of backend.Layered.
//
// A check looks at shapes and numbers. Whether buffers belong to the device, are alive and
// share memory is for the device to find out; package backendtest tests that it does.
package devicekit
