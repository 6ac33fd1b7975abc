package denoising

import (
	"context"
	"slices"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
)

// FillImpulses returns the image with the median of good neighbours in place of samples that are hot or dead
// pixels, or salt and pepper, and their share of all: to a denoiser for other noise they are detail. An image without
// any is returned itself. Pixels that are less than half opaque have none: their colours are coarse, and hardly seen.
func FillImpulses(ctx context.Context, p *imageplanes.Planes) (filled *imageplanes.Planes, share float64, err error) {
	bad, share, err := noise.FindImpulses(ctx, p.Pix, p.Channels, p.Height, p.Width)
	if bad == nil || err != nil {
		return p, 0, err
	}
	if p.Alpha != nil {
		for i := range bad {
			bad[i] = bad[i] && p.Alpha[i%len(p.Alpha)] >= 1<<15
		}
		if !slices.Contains(bad, true) {
			return p, 0, nil
		}
	}
	out := *p
	out.Pix = noise.FillImpulses(p.Pix, bad, p.Channels, p.Height, p.Width)
	return &out, share, nil
}
