package restore

import (
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/outcome"
)

// inRange solves an inverse problem for an image in the range that priors are meant for. A dark image is brightened first,
// with its noise, and the result is darkened again: a prior smooths by more than nothing where there is no noise, which in a
// dark image would be much. peak is the upper end of the box that iterates stay in.
func inRange(p *Planar, c plan, report *outcome.Report, solve func(p *Planar, peak float64) ([]float32, error)) ([]float32, error) {
	peak := inverse.Peak(p.Pix, report.Noise.Sigma)
	if c.choice.Prior != nil {
		return solve(p, peak)
	}
	pix, factor := denoising.Brightened(p.planes(), false)
	if factor == 1 {
		return solve(p, peak)
	}
	noise := report.Noise
	report.Noise.Scale(float64(factor))
	out, err := solve((*Planar)(p.planes().WithPix(pix)), float64(factor)*peak)
	for i := range out {
		out[i] /= factor
	}
	report.Noise = noise
	report.Weight /= float64(factor)
	return out, err
}
