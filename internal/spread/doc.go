// Package spread is a device that spreads convolutions, gradient flows and the layers of guides,
// which is nearly all that a network computes, over workers that share no memory with it: instances
// of WebAssembly, or other processes. All else, and what is too little to be worth a message, it
// leaves to a device of the host.
//
// The result has the same bits for any number of workers. What a worker gets is a piece of the
// image, cut at a multiple of ConvolutionGrid, with all pixels that the result depends on
// (backend.StepsReach), and package backend promises the same bits for such a cut. So workers must
// compute as the host's device does: the same device with the same instruction set.
package spread
