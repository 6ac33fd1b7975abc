package denoising

import (
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/shadows"
)

// mendShadows raises in out, the denoised p, the shadows that noise has darkened, and reports the curves.
func mendShadows(p *imageplanes.Planes, out []float32, report *outcome.Noise) {
	raised, slope := 0.0, 1.0
	for _, curve := range shadows.Mend(p.Pix, out, p.Channels) {
		raised, slope = max(raised, curve.Raised()), max(slope, curve.Slope())
	}
	if raised > 0 {
		report.ShadowsRaised, report.ShadowSlope = raised, slope
	}
}
