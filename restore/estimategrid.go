package restore

import (
	"context"
	"fmt"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/deblur/estimate"
)

// EstimateGrid estimates rows×columns kernels, for DeblurVarying, for a photograph whose blur varies over the frame
// (KernelReport.Varies). It starts from the kernel that EstimateKernel found for the whole photograph. If rows and
// columns are 0, their numbers follow from the sizes of the photograph and of the kernel. The options are those of
// EstimateKernel; KernelSize has no effect. Nothing is proven of the estimate.
func EstimateGrid(ctx context.Context, img image.Image, kernel deblur.Kernel, rows, columns int, options ...Option) (deblur.Grid, error) {
	c, err := applyOnly(options, ofKernel)
	if err != nil {
		return deblur.Grid{}, err
	}
	p, err := open(ctx, img, c.threads)
	if err != nil {
		return deblur.Grid{}, err
	}
	if err := kernel.Check(); err != nil {
		return deblur.Grid{}, err
	}
	if err := c.seeLight(ctx, &p, kernel); err != nil {
		return deblur.Grid{}, err
	}
	of := p.planes
	g, err := estimate.Grid(ctx, of.Pix, of.Channels, of.Height, of.Width, kernel, rows, columns, c.estimating())
	if err != nil {
		return deblur.Grid{}, fmt.Errorf("restore: %w", err)
	}
	return g, nil
}
