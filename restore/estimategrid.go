package restore

import (
	"context"
	"fmt"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/deblur/estimate"
)

// EstimateGrid estimates kernels for the parts of a photograph whose blur varies over the frame
// (KernelReport.Varies), rows×columns of them, for DeblurVarying. It begins with the kernel that EstimateKernel found
// for all of it. 0 rows and columns: how many there are follows from the size of the photograph and the
// kernel's. It takes the options of EstimateKernel; KernelSize changes nothing. Nothing is proven of the estimate.
func EstimateGrid(ctx context.Context, img image.Image, kernel deblur.Kernel, rows, columns int, options ...Option) (deblur.Grid, error) {
	p, opt, err := forEstimate(img, options)
	if err != nil {
		return deblur.Grid{}, err
	}
	g, err := estimate.Grid(ctx, p.Pix, p.Channels, p.Height, p.Width, kernel, rows, columns, opt)
	if err != nil {
		return deblur.Grid{}, fmt.Errorf("restore: %w", err)
	}
	return g, nil
}
