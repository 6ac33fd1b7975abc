package restore

import (
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/outcome"
)

// inRange solves an inverse problem for an image in the range that the library's priors are meant for: they smooth by more than
// nothing where there is no noise, which in a dark image would be much. peak is the upper end of the box that iterates stay in.
func inRange(p *imageplanes.Planes, c plan, report *outcome.Report, solve func(p *imageplanes.Planes, peak float64) ([]float32, error)) ([]float32, error) {
	peak := inverse.Peak(p.Pix, report.Noise.Sigma)
	if c.choice.Prior != nil {
		return solve(p, peak)
	}
	return p.InRange(imageplanes.ForPriors, false, report, func(bright *imageplanes.Planes, factor float64) ([]float32, error) {
		return solve(bright, factor*peak)
	})
}
