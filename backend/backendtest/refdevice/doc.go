// Package refdevice is a second device, as different from package cpu as the interface allows. It shows that
// the interface and its compliance suite fit more than one device. It stores float64, and rounds to float32
// only when numbers leave it. One goroutine works through a queue of operations, which are not done when a
// call returns. Its memory is limited, and options make it lack operations or fail late. It is for tests, not
// for programs.
//
// Its arithmetic shares nothing with the references in package backendtest: a convolution is a sum of shifted
// planes, a blur the "valid" convolution of an explicitly continued image, with a fast Fourier transform if
// requested, and every adjoint scatters what the forward operation gathers.
package refdevice
