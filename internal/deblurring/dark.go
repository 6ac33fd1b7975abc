package deblurring

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
)

// brightening is the factor by which a dark photograph is brightened before its blur is removed, 1 if it is not dark: the
// largest power of two under which no sample is clipped. A power of two rounds nothing. The priors are for images that
// have some bright samples, and smooth by more than nothing where there is no noise. Where light was blurred, the curve of sRGB
// makes another problem of a brighter photograph.
func (j Job) brightening(p *imageplanes.Planes) float64 {
	brightest := float64(slices.Max(p.Pix))
	if j.LinearLight || j.Choice.Prior != nil || !(brightest > 0) {
		return 1
	}
	// At most 2³², far from where float32 ends.
	return math.Exp2(min(max(math.Floor(math.Log2(clipping.White/brightest)), 0), 32))
}

// Deblur returns the samples of a photograph without its blur, for the noise that the report has, and completes the
// report.
func (j Job) Deblur(ctx context.Context, p *imageplanes.Planes, blur Blur, report *outcome.Report) ([]float32, error) {
	j.exposure = j.brightening(p)
	if j.exposure == 1 {
		return j.deblur(ctx, p, blur, report)
	}
	bright := *p
	bright.Pix = make([]float32, len(p.Pix))
	for i, v := range p.Pix {
		bright.Pix[i] = float32(j.exposure) * v
	}
	report.Noise.Scale(j.exposure)
	out, err := j.deblur(ctx, &bright, blur, report)
	report.Noise.Scale(1 / j.exposure)
	report.Noise.Disturbance /= j.exposure
	report.Weight /= j.exposure
	for i := range report.Iteration.Left {
		report.Iteration.Left[i] /= j.exposure
	}
	for i := range out {
		out[i] /= float32(j.exposure)
	}
	return out, err
}
