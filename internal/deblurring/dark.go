package deblurring

import (
	"context"

	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
)

// Deblur returns the samples of a photograph without its blur, for the noise that the report has, and completes the
// report. A dark photograph is brightened as far as none of its samples becomes a clipped one. Where light was
// blurred it is not: the curve of sRGB makes another problem of a brighter photograph.
func (j Job) Deblur(ctx context.Context, p *imageplanes.Planes, blur Blur, report *outcome.Report) ([]float32, error) {
	if j.LinearLight || j.Choice.Prior != nil {
		return j.deblur(ctx, p, blur, report)
	}
	return p.InRange(imageplanes.Exposure{White: clipping.White}, false, report, func(bright *imageplanes.Planes, factor float64) ([]float32, error) {
		j.exposure = factor
		return j.deblur(ctx, bright, blur, report)
	})
}
