package denoise

import (
	"context"
	"errors"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/weights"
)

// ErrNoLevels is wrapped by the error of Network.For about a network for one noise level.
var ErrNoLevels = errors.New("the network is for one noise level, there is nothing to choose: Rescale takes it to another")

// family is what For makes networks of: a model with noise levels, which is not changed
// any more, and the certificate for all of them.
type family struct {
	model       Model
	radius      float64
	certificate Certificate
	options     options
	card        weights.Card
	filters     *filterErrors // for all levels, where the filters are the same for all
}

// Levels returns the noise levels that the network's biases, gains and radii are given at
// (Model.Sigmas), ascending; nil for a network that is for one noise level.
func (n *Network) Levels() []float64 {
	if n.levels == nil {
		return nil
	}
	return slices.Clone(n.levels.model.Sigmas)
}

// For returns the network for noise of standard deviation sigma > 0 (Model.At), of a
// network with Levels. It is on the same device, has filters of its own and the same
// card, and is the caller's to free; n may be freed before it. Its certificate follows
// from the one for every noise level without a look at any norm (Model.CertificateAt),
// and may have smaller constants. That takes milliseconds. It is safe for concurrent
// use. Of other networks the error wraps ErrNoLevels.
func (n *Network) For(ctx context.Context, sigma float64) (*Network, error) {
	if n.levels == nil {
		return nil, ErrNoLevels
	}
	return n.levels.network(ctx, n.dev, sigma)
}

// newFamily puts the network of one noise level on a device, with the certificate for
// all of them.
func newFamily(ctx context.Context, dev backend.Device, f *family, sigma float64) (*Network, error) {
	if f.certificate.Proven && !f.model.hasGains() {
		f.filters = newFilterErrors(dev, f.model, f.certificate)
	}
	n, err := f.network(ctx, dev, sigma)
	if err != nil {
		return nil, err
	}
	n.certificate = f.certificate
	return n, nil
}

// network puts the network of one noise level on a device, with its own certificate.
func (f *family) network(ctx context.Context, dev backend.Device, sigma float64) (*Network, error) {
	plain, c, err := f.model.derive(f.radius, f.certificate, sigma)
	if err != nil {
		return nil, err
	}
	n, err := newNetwork(ctx, dev, plain, f.radius, c, f.options, f.filters)
	if err != nil {
		return nil, err
	}
	n.levels, n.card = f, f.card
	return n, nil
}
