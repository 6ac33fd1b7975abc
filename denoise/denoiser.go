package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// Denoiser is a map Φ of images on one device, with what is proven of it. It is what package pnp needs of a denoiser.
// Network implements it, and Relax, Rescale and Grey wrap one Denoiser into another.
type Denoiser interface {
	// Apply sets dst = Φ(src). Both have the shape N×C×H×W with C = Channels and share no memory. It treats each
	// image of a batch by itself. When ctx ends it returns ctx.Err() within about a second, and dst is undefined. It
	// reports progress to the context (backend.WithProgress).
	Apply(ctx context.Context, dst, src backend.Buffer) error
	// Averagedness returns the α in (0, 1] for which Φ is α-averaged (1: nonexpansive), and whether that is proven.
	// Without a proof α is 1 and says nothing.
	Averagedness() (alpha float64, proven bool)
	// Certificate says what is proven and from what, or why nothing is.
	Certificate() Certificate
	// Channels returns C, the number of channels of the images.
	Channels() int
	// Device returns the device that computes. Images must be on it.
	Device() backend.Device
	// Free releases the memory on the device, also that of a wrapped denoiser. The device stays open. A second Free
	// does nothing.
	Free()
}

// InexactDenoiser is a Denoiser that may be computed by an iteration, such as a proximal map, and can bound its
// error. All denoisers of this package are InexactDenoisers. Network.ApplyWithin says more.
type InexactDenoiser interface {
	Denoiser
	// ApplyWithin sets dst to Φ(src) with an error of at most maxError in exact arithmetic, in the Euclidean norm
	// over all elements. It returns the proven bound of the error, 0 if Φ is a formula.
	ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (errorBound float64, err error)
}

// applyWithin calls ApplyWithin if d has it. A denoiser without it is a formula.
func applyWithin(ctx context.Context, d Denoiser, dst, src backend.Buffer, maxError float64) (float64, error) {
	if inexact, ok := d.(InexactDenoiser); ok {
		return inexact.ApplyWithin(ctx, dst, src, maxError)
	}
	return 0, d.Apply(ctx, dst, src)
}
