package restore

import "github.com/averaged/imaging/internal/localmean"

// keepMeans puts back in out, what a network made of p, what it took from the means over areas of some 100 pixels, where
// the noise is that of a camera: there a network that has learned from simulated ones shifts dark colours. What is put
// back is fixed for the photograph, as the radii of a guide are, and changes nothing that is proven.
func (c settings) keepMeans(p *Planar, out []float32, report *Report) {
	coarse := c.grain || report.Estimate != nil && report.Estimate.Kind == CoarseNoise
	if c.prior != nil || report.Network == nil || !coarse && report.Method != Camera {
		return
	}
	report.MeansKept = localmean.Keep(p.Pix, out, p.Channels, p.Height, p.Width, report.Sigma)
}
