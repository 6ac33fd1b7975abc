package restore

import (
	"slices"

	"github.com/averaged/imaging/internal/impulse"
)

// fillImpulses puts the median of good neighbours in the place of samples that are hot or dead pixels, or
// salt and pepper: to a denoiser for other noise they are detail. The image that was opened stays as it is.
func (p *picture) fillImpulses(report *Report) {
	given := p.planar
	bad, share := impulse.Find(given.Pix, given.Channels, given.Height, given.Width)
	if bad == nil {
		return
	}
	if given.Alpha != nil { // what is invisible was filled, and has none
		for i := range bad {
			bad[i] = bad[i] && given.Alpha[i%len(given.Alpha)] > 0
		}
		if !slices.Contains(bad, true) {
			return
		}
	}
	filled := *given
	filled.Pix = impulse.Fill(given.Pix, bad, given.Channels, given.Height, given.Width)
	p.planar, report.Noise.Impulses = &filled, share
}
