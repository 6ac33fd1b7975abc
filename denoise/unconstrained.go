package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/nn/tile"
)

// NewDnCNN puts a DnCNN on a device, which the caller closes. Nothing is proven of it.
func NewDnCNN(dev backend.Device, d dncnn.Model, opts ...Option) (*Network, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if err := arguments.CheckDevice("denoise", dev); err != nil {
		return nil, err
	}
	return newDnCNN(dev, d, o)
}

func newDnCNN(dev backend.Device, d dncnn.Model, o options) (*Network, error) {
	work := Work{Pixel: float64(d.Parameters())}
	if err := o.checkWork(work); err != nil {
		return nil, err
	}
	n, err := dncnn.New(dev, d)
	if err != nil {
		return nil, err
	}
	return &Network{
		dev: dev, channels: d.Channels, tile: o.tile, body: unconstrained{n}, work: work,
		certificate: unproven("the architecture DnCNN has no constraint: nothing is proven of it"),
	}, nil
}

// unconstrained is a DnCNN as a body.
type unconstrained struct{ *dncnn.Network }

func (u unconstrained) plan(backend.Buffer, backend.Shape, float64) (tile.Plan, func() float64, error) {
	return u.Network, exactly, nil
}

func (u unconstrained) free() { u.Free() }

func (u unconstrained) pullBack(ctx context.Context, s *tile.Scratch, dst, x, v backend.Buffer) (bool, error) {
	return true, u.PullBack(ctx, s, dst, x, v)
}
