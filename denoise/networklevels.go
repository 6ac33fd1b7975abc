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

// Levels returns the noise levels for which the network has biases, gains and radii (Model.Sigmas), ascending. It is
// nil for a network for one noise level.
func (n *Network) Levels() []float64 {
	if n.levels == nil {
		return nil
	}
	return slices.Clone(n.levels.model.Sigmas)
}

// For returns the network for noise of standard deviation sigma > 0 (Model.At), of a network with Levels; for others
// the error wraps ErrNoLevels. The result is on the same device, has the same card and its own filters, and the
// caller frees it, before n or after. Its certificate follows from that for every noise level (Model.CertificateAt),
// and may have smaller constants. For takes milliseconds, and is safe for concurrent use.
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
