package restore

import (
	"context"
	"fmt"
	"image"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/deblur/estimate"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/imageplanes"
)

// Blur is what EstimateBlur found: the turn of a camera, or a blur that is the same all over the frame.
type Blur struct {
	// Grid has the kernel, or the kernels of the turn.
	Grid deblur.Grid
	// Turn is nil if the blur is the same all over the frame, and Kernel, the report of that, if it is not.
	Turn   *Turn
	Kernel *KernelReport
	// LinearLight reports that light was blurred, before sRGB's curve made samples of it. The kernels are those of light.
	LinearLight bool
}

// String returns the blur in a few words. That of nil, or of a Blur that EstimateBlur did not make, is "unknown blur".
func (b *Blur) String() string {
	switch {
	case b == nil || b.Turn == nil && b.Kernel == nil:
		return "unknown blur"
	case b.Turn == nil:
		return b.Kernel.String()
	case b.LinearLight:
		return b.Turn.String() + inLight
	}
	return b.Turn.String()
}

// inLight is said of a blur of light.
const inLight = ", in linear light"

// Doubts are about the kernel.
func (b *Blur) Doubts() []Doubt {
	if b.Kernel == nil {
		return nil
	}
	return b.Kernel.Doubts
}

// none reports that there is no blur.
func (b *Blur) none() bool { return b.Kernel != nil && b.Kernel.Kind == estimate.None.String() }

// kernels are those of the grid.
func (b *Blur) kernels() deblurring.Blur {
	if b.Turn == nil {
		return deblurring.OneKernel(b.Grid.Kernels[0])
	}
	return deblurring.ManyKernels(b.Grid)
}

// Turn is the turn of a camera during an exposure.
type Turn struct {
	// X and Y are the point that it turned about, in pixels right of the left border of the frame and below its top.
	X, Y float64
	// Degrees is by how much it turned, except for the first and the last hundredth of the exposure.
	Degrees float64
	// Motion holds the poses.
	Motion deblur.CameraMotion
}

// String returns the turn in a few words.
func (t *Turn) String() string {
	return fmt.Sprintf("the camera turned by %.1f degrees about the point %.0f,%.0f", t.Degrees, t.X, t.Y)
}

// EstimateBlur estimates the blur of a photograph, for DeblurBlind: the turn of a camera about a point, or, if the photograph
// shows none, a kernel as EstimateKernel does. A turn is looked for with the boundary deblur.Unknown only. The options are those
// of EstimateKernel and Boundary. Nothing is proven of the estimate.
func EstimateBlur(ctx context.Context, img image.Image, options ...Option) (*Blur, error) {
	c, err := applyOnly(options, append([]string{"Boundary"}, ofKernel...))
	if err != nil {
		return nil, err
	}
	return c.estimateBlur(ctx, img)
}

func (c request) estimateBlur(ctx context.Context, img image.Image) (*Blur, error) {
	p, err := open(ctx, img, c.threads)
	if err != nil {
		return nil, err
	}
	return c.findBlur(ctx, p, func(c request, p *imageplanes.Planes) (*Blur, error) {
		if c.boundary != deblur.Unknown {
			return c.uniformBlur(ctx, p)
		}
		t, e, err := estimate.Blur(ctx, p.Pix, p.Channels, p.Height, p.Width, c.estimating())
		switch {
		case err != nil:
			return nil, fmt.Errorf("restore: %w", err)
		case t == nil:
			return uniform(e), nil
		}
		b := &Blur{Turn: &Turn{X: t.X + float64(p.Width)/2, Y: t.Y + float64(p.Height)/2, Degrees: t.Angle() * 180 / math.Pi, Motion: t.Motion}}
		if b.Grid, err = t.Motion.Grid(p.Height, p.Width); err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		return b, nil
	})
}

// uniformBlur estimates a blur that is the same all over the frame.
func (c request) uniformBlur(ctx context.Context, p *imageplanes.Planes) (*Blur, error) {
	e, err := estimate.Kernel(ctx, p.Pix, p.Channels, p.Height, p.Width, c.estimating())
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return uniform(e), nil
}

func uniform(e *estimate.Estimate) *Blur {
	return &Blur{Grid: deblur.OneKernel(e.Kernel), Kernel: kernelReport(e)}
}
