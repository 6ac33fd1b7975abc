package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/pnp"
)

// freeze freezes the network in use for a run that begins at x.
func (d *Problem) freeze(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error) {
	if err := d.beginAt(ctx, x, beyondWhite); err != nil {
		return nil, err
	}
	return d.retuning.current.GuideAt(ctx, d.operator(), d.y, x, d.data, pnp.Options{Step: d.step, Peak: d.peak()}, d.strength)
}

// FreezeFirst freezes the network as the first run of Deblur does.
func (d *Problem) FreezeFirst(ctx context.Context) error {
	x, err := d.start(ctx, StartWiener)
	if err != nil {
		return err
	}
	defer x.Free()
	_, err = d.freeze(ctx, x)
	return err
}
