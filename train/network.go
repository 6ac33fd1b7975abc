package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
)

// network is what the training loop trains.
type network interface {
	// parameters are what the optimiser changes, always the same ones.
	parameters() []*Parameter
	// initialise draws the parameters.
	initialise(g *generator) error
	// forward sets dst to the result for src.
	forward(ctx context.Context, dst, src backend.Buffer) error
	// backward adds to the gradients on the device, given that with respect to the
	// result of the last forward.
	backward(ctx context.Context, gradient backend.Buffer) error
	// tune prepares the device for images with noise of standard deviation sigma, after
	// every update, where the network depends on it.
	tune(sigma float64) error
	// zeroGradients sets the gradients on the device to zero.
	zeroGradients() error
	// gradients sets the gradients of the parameters to those on the device.
	gradients() error
	// update follows a change of the parameters by the optimiser.
	update() error
	// state are the numbers that a checkpoint needs besides the parameters, and restore
	// prepares the device for parameters and state that have been read from one.
	state() ([]array, error)
	restore(state []array) error
	// effective are the arrays of a weight file: A and not V. A weighted mean of them is
	// a network too, and a nonexpansive one if all were with one number of steps, since
	// norms are convex.
	effective() []array
	// blockMetrics says what the metrics tell of the blocks.
	blockMetrics() []BlockMetrics
	// denoiser returns a network of these effective arrays for a noise level, without a
	// certificate.
	denoiser(ctx context.Context, arrays []array, sigma float64) (*denoise.Network, error)
	// file returns the weight file of effective arrays, with a certificate if there is
	// something to prove.
	file(ctx context.Context, arrays []array, card weights.Card) (*weights.File, denoise.Certificate, error)
	// release gives the device's memory back.
	release()
}

// newNetwork allocates the network of a configuration.
func newNetwork(dev backend.Device, c Config) (network, error) {
	if c.Family == weights.FamilyDnCNN {
		d, err := newDnCNN(dev, c)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	a, err := newAveraged(dev, c)
	if err != nil {
		return nil, err
	}
	return a, nil
}
