package restore

import (
	"github.com/averaged/imaging/internal/imageplanes"
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
	pix, gain := imageplanes.NormaliseExposure(p.planes(), false)
	if gain == 1 {
		return solve(p, peak)
	}
	noise := report.Noise
	report.Noise.Scale(float64(gain))
	out, err := solve((*Planar)(p.planes().WithPix(pix)), float64(gain)*peak)
	for i := range out {
		out[i] /= gain
	}
	report.Noise = noise
	report.Weight /= float64(gain)
	return out, err
}
