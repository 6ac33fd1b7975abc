// Package refdevice is a second device, as unlike package cpu as the interface
// allows, so that the interface and its compliance suite are known to carry more
// than one: it holds float64, and rounds to float32 only where numbers leave it;
// its operations are queued for one goroutine and have not been done when a call
// returns; its memory is limited; and it can be told to lack operations, or to
// fail late. Programs have no use for it; tests of what stands on a device have.
//
// Its arithmetic shares nothing with the references in package backendtest: a
// convolution is a sum of shifted planes, a blur the "valid" convolution of an
// explicitly continued image, with a fast Fourier transform where one is asked
// for, and every adjoint is written as the scatter of what the forward operation
// gathers.
package refdevice
