package restore

import (
	"context"
	"image"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/operator"
)

// DeblurVarying is Deblur for a blur that varies over the frame (deblur.Varying), as of a camera that turned: the
// grid has a kernel for the middle of each part of the image. The options are those of Deblur; the boundary is
// deblur.Unknown, and no other. The rules of strength go by the grid's typical kernel.
func DeblurVarying(ctx context.Context, img image.Image, grid deblur.Grid, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DeblurVarying(ctx, img, grid)
}

// DeblurVarying does what the function DeblurVarying does.
func (r *Restorer) DeblurVarying(ctx context.Context, img image.Image, grid deblur.Grid, options ...Option) (image.Image, *Report, error) {
	if err := grid.Check(); err != nil {
		return nil, nil, err
	}
	return r.run(ctx, taskDeblur, img, options, settings.blurredNoise,
		func(ctx context.Context, dev backend.Device, p *picture, c settings, report *Report) ([]float32, error) {
			return solveDeblurring(ctx, dev, p.planar, manyKernels(grid), c, report)
		})
}

// blurring is a blur that Deblur removes.
type blurring interface {
	operator.Linear
	// Crop, Extend and Wiener are those of deblur.Operator.
	Crop(dst, src []float32) error
	Extend(dst, src []float32) error
	Wiener(dst, src backend.Buffer, nsr float64) error
	Free()
}

// blurOf is a blur before the size of the photograph is known.
type blurOf struct {
	typical  deblur.Kernel // that rules of strength go by
	operator func(dev backend.Device, boundary deblur.Boundary, h, w int) (blurring, error)
}

func oneKernel(k deblur.Kernel) blurOf {
	return blurOf{k, func(dev backend.Device, boundary deblur.Boundary, h, w int) (blurring, error) {
		return deblur.New(dev, k, boundary, h, w)
	}}
}

func manyKernels(g deblur.Grid) blurOf {
	return blurOf{g.Typical(), func(dev backend.Device, boundary deblur.Boundary, h, w int) (blurring, error) {
		if boundary != deblur.Unknown {
			return nil, &OptionError{Option: "Boundary", Value: boundary, Want: "deblur.Unknown, where the blur varies"}
		}
		return deblur.NewVarying(dev, g, h, w)
	}}
}
