package restore

import (
	"math"

	"github.com/averaged/imaging/internal/strength"
)

// disturbance returns what deblurring has to expect besides what a kernel of energy ‖k‖² says, for
// noise of an estimated standard deviation sigma (strength.Disturbance).
func (p *Planar) disturbance(sigma, energy float64) float64 {
	return strength.Disturbance(sigma, energy, p.contrast())
}

// contrast is the standard deviation of the samples, each channel about its own mean.
func (p *Planar) contrast() float64 {
	square := 0.0
	for c := range p.Channels {
		mean, m2 := 0.0, 0.0
		for i, v := range p.Plane(c) {
			d := float64(v) - mean
			mean += d / float64(i+1)
			m2 += d * (float64(v) - mean)
		}
		square += m2
	}
	return math.Sqrt(square / float64(len(p.Pix)))
}
