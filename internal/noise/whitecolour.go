package noise

import (
	"fmt"
	"math"
)

// The orthonormal axes of colour space: two that grey has no part in, and grey. White noise is as strong along each as
// in the channels. Edges and texture are much weaker along the first two.
var (
	redBlue    = axis{1 / math.Sqrt2, 0, -1 / math.Sqrt2}
	greenOther = axis{1 / sqrt6, -2 / sqrt6, 1 / sqrt6}
	brightness = axis{1 / sqrt3, 1 / sqrt3, 1 / sqrt3}
)

const (
	sqrt3 = 1.7320508075688772
	sqrt6 = 2.449489742783178
)

// colour measures an image of red, green and blue on the axes of colour. Noise that was there before an image was
// compressed with subsampled chroma is nearly absent from them. So brightness is measured too, and where it has much
// more noise, spread as evenly as noise is, the channels are measured one by one.
func (s *samples) colour() WhiteNoise {
	chroma := s.measure(redBlue, greenOther)
	luma := s.measure(brightness)
	if luma.sigma > Dominance*chroma.sigma {
		if m := s.judge(luma); m.reliable {
			e := s.unrelated()
			e.Brightness, e.Reliable = m.sigma, false
			e.Note = fmt.Sprintf("noise is weaker in colour (%.2g) than in brightness (%.2g), as after compression: the estimate is their root mean square", chroma.sigma, luma.sigma)
			return e
		}
	}
	m := s.judge(chroma)
	e := WhiteNoise{Sigma: m.sigma, Reliable: m.reliable, Note: m.note, PerChannel: make([]float64, 3)}
	if m.sigma > 0 {
		e.PerChannel = s.separate(chroma.flat)
	}
	return e
}

// separate solves for the channels' variances R, G, B, given that their noise is independent, from what they give along
// the chroma axes x, y:
//
//	var x = (R+B)/2,  var y = (R+4G+B)/6,  cov(x,y) = (R−B)/√12,
//
// the covariance being (var(x+y) − var(x−y))/4.
func (s *samples) separate(flat selection) []float64 {
	variance := func(a axis) float64 {
		d := s.deviation(flat, a)
		return d * d
	}
	sum, difference := make(axis, 3), make(axis, 3)
	for c := range sum {
		sum[c], difference[c] = redBlue[c]+greenOther[c], redBlue[c]-greenOther[c]
	}
	x, y := variance(redBlue), variance(greenOther)
	half := math.Sqrt(12) * (variance(sum) - variance(difference)) / 8 // (R−B)/2
	root := func(v float64) float64 { return math.Sqrt(max(v, 0)) }
	return []float64{root(x + half), root((3*y - x) / 2), root(x - half)}
}
