package deblurring

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/operator"
)

// StartingPoint names the initial estimate.
type StartingPoint uint8

const (
	// StartWiener is a Wiener estimate: the default.
	StartWiener StartingPoint = iota
	// StartImage is the blurred image itself.
	StartImage
	// StartConstant is uniform grey of half intensity.
	StartConstant
)

// start returns an initial estimate of the image of the iteration.
func (d *Problem) start(ctx context.Context, s StartingPoint) (backend.Buffer, error) {
	b, err := d.dev.Alloc(d.unknown())
	if err != nil {
		return nil, err
	}
	switch s {
	case StartConstant:
		err = d.dev.Fill(b, 0.5)
	case StartImage:
		extended := make([]float32, d.unknown().Len())
		if err = d.blur.Extend(extended, d.planar.Pix); err == nil {
			err = d.dev.Upload(b, extended)
		}
	default:
		err = d.linearEstimate(ctx, b)
	}
	if err == nil {
		b, err = d.widened(b)
	}
	if err == nil {
		err = d.beginAt(ctx, b, clipping.White)
	}
	if err != nil {
		b.Free()
		return nil, fmt.Errorf("restore: initial estimate: %w", err)
	}
	return b, nil
}

// linearEstimate makes the Wiener estimate, with light above white where the photograph is clipped.
func (d *Problem) linearEstimate(ctx context.Context, b backend.Buffer) error {
	if d.light != nil {
		if err := d.light.photographed(); err != nil {
			return err
		}
	}
	if err := d.wiener(ctx, b, d.y); err != nil {
		return err
	}
	if d.clips() {
		if err := d.brighten(ctx, b); err != nil {
			return err
		}
	}
	if d.light != nil {
		return d.light.encode(b)
	}
	return nil
}

// wiener makes the Wiener estimate of a photograph y one channel at a time, which bounds its memory
// and the time until it sees the context end.
func (d *Problem) wiener(ctx context.Context, b, y backend.Buffer) error {
	ratio := deblur.NoiseToSignal(d.planar.Pix, d.planar.Height*d.planar.Width, d.sigma)
	if d.clips() {
		ratio *= unclippedRatio
	}
	return operator.EachChannel(d.dev, b, y, func(b, y backend.Buffer) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return d.blur.Wiener(b, y, ratio)
	})
}
