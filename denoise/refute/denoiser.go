package refute

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Denoiser is what an attack and a repetition need of a map Φ of images on one device, as
// denoise.Denoiser says it.
type Denoiser interface {
	// Apply sets dst = Φ(src), of the same shape and in other memory.
	Apply(ctx context.Context, dst, src backend.Buffer) error
	// Averagedness returns the α for which Φ is α-averaged, and whether that is proven.
	Averagedness() (alpha float64, proven bool)
	// Channels returns the number of channels of the images.
	Channels() int
	// Device returns the device that the images are on.
	Device() backend.Device
}

var errNoDenoiser = fmt.Errorf("%w: the denoiser is nil", backend.ErrArgument)

// Inexact is a Denoiser that is computed by an iteration, and bounds its error.
type Inexact interface {
	// ApplyWithin sets dst to Φ(src) with an error of at most maxError in the Euclidean norm,
	// and returns the bound of the error that is proven.
	ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (errorBound float64, err error)
}

// Rounded is a Denoiser that can bound what float32 adds to it.
type Rounded interface {
	// Rounding bounds ‖Φ(x) as computed − Φ(x)‖ for every x of shape s with ‖x‖ ≤ size, but for
	// the error that ApplyWithin returns; +Inf where nothing is proven.
	Rounding(ctx context.Context, size float64, s backend.Shape) (bound float64, err error)
}

// roundingOf returns the bound of a denoiser, +Inf where it has none.
func roundingOf(ctx context.Context, d Denoiser, size float64, s backend.Shape) (float64, error) {
	if r, ok := d.(Rounded); ok {
		return r.Rounding(ctx, size, s)
	}
	return math.Inf(1), nil
}

// Differentiable is a Denoiser whose transposed Jacobian can be applied.
type Differentiable interface {
	// PullBack sets dst = J(x)ᵀv, where J is the derivative of Φ at x, from the negative side
	// or from inside a ball where there are two. It returns false where it has no way to do
	// it.
	PullBack(ctx context.Context, dst, x, v backend.Buffer) (bool, error)
}

// Measured is a Denoiser that can be computed in float64.
type Measured interface {
	// MeasuredRounding returns ‖Φ(x) as computed − Φ(x)‖. An error says that Φ has no way to do it.
	MeasuredRounding(ctx context.Context, x backend.Buffer) (float64, error)
}

// innerError is the root mean square error, over the samples of an image, that a repetition
// allows to one application of an Inexact denoiser.
const innerError = 1e-5

// applyWithin calls ApplyWithin if d has it. A denoiser without it is a formula.
func applyWithin(ctx context.Context, d Denoiser, dst, src backend.Buffer, maxError float64) (float64, error) {
	if inexact, ok := d.(Inexact); ok {
		return inexact.ApplyWithin(ctx, dst, src, maxError)
	}
	return 0, d.Apply(ctx, dst, src)
}

// pullBack calls PullBack if d has it.
func pullBack(ctx context.Context, d Denoiser, dst, x, v backend.Buffer) (bool, error) {
	if differentiable, ok := d.(Differentiable); ok {
		return differentiable.PullBack(ctx, dst, x, v)
	}
	return false, nil
}
