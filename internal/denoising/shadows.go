package denoising

import (
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/shadows"
)

// mendShadows raises in out, what became of p, the shadows that noise has darkened. It returns nil if nothing changes.
func mendShadows(p *imageplanes.Planes, out []float32) *outcome.Shadows {
	mended := outcome.Shadows{Slope: 1}
	for _, curve := range shadows.Mend(p.Pix, out, p.Channels) {
		mended.Raised, mended.Slope = max(mended.Raised, curve.Raised()), max(mended.Slope, curve.Slope())
	}
	if mended.Raised > 0 {
		return &mended
	}
	return nil
}
