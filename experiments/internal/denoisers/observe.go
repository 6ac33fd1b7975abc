package denoisers

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// Full is a denoiser as an iteration uses it: with the error that it makes, and its rounding.
type Full interface {
	Apply(ctx context.Context, dst, src backend.Buffer) error
	ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (errorBound float64, err error)
	Averagedness() (alpha float64, proven bool)
	Rounding(ctx context.Context, size float64, s backend.Shape) (bound float64, err error)
}

// Observed is a denoiser whose results are looked at.
type Observed struct {
	Full
	dev  backend.Device
	look func(result backend.Buffer) error
}

// Observe returns d, a network or package tv's map, with a function that sees every result before
// it is used.
func Observe(dev backend.Device, d Full, look func(result backend.Buffer) error) Observed {
	return Observed{d, dev, look}
}

// Apply is that of the denoiser.
func (o Observed) Apply(ctx context.Context, dst, src backend.Buffer) error {
	if err := o.Full.Apply(ctx, dst, src); err != nil {
		return err
	}
	return o.look(dst)
}

// ApplyWithin is that of the denoiser.
func (o Observed) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (float64, error) {
	e, err := o.Full.ApplyWithin(ctx, dst, src, maxError)
	if err != nil {
		return e, err
	}
	return e, o.look(dst)
}

// Channels and Device are those of package refute's Denoiser.
func (o Observed) Channels() int          { return 3 }
func (o Observed) Device() backend.Device { return o.dev }
