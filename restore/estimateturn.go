package restore

import (
	"context"
	"fmt"
	"image"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/deblur/estimate"
)

// Turn is the turn of a camera during an exposure.
type Turn struct {
	// X and Y are the point that it turned about, in pixels right of the left border of the frame and below its top.
	X, Y float64
	// Degrees is by how much it turned, but for the first and the last hundredth of the exposure.
	Degrees float64
	// Motion holds the poses. Its Grid has the kernels for DeblurVarying.
	Motion deblur.CameraMotion
}

// String returns the turn in a few words.
func (t *Turn) String() string {
	return fmt.Sprintf("the camera turned by %.1f degrees about the point %.0f,%.0f", t.Degrees, t.X, t.Y)
}

// EstimateTurn tells from a photograph whether the camera turned about a point while it was exposed, and how. It returns
// nil if it sees no such turn: then EstimateKernel estimates a blur that is the same all over the frame. It costs little
// where there is no turn. The options are those of EstimateKernel. Nothing is proven of the estimate.
func EstimateTurn(ctx context.Context, img image.Image, options ...Option) (*Turn, error) {
	p, opt, err := forEstimate(img, options)
	if err != nil {
		return nil, err
	}
	t, err := estimate.Turn(ctx, p.Pix, p.Channels, p.Height, p.Width, opt)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if t == nil {
		return nil, nil
	}
	return &Turn{X: t.X + float64(p.Width)/2, Y: t.Y + float64(p.Height)/2, Degrees: t.Angle() * 180 / math.Pi, Motion: t.Motion}, nil
}
