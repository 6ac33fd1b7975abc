package imageplanes

import "math"

// Exposure says how bright Brightened makes an image: all but a share of the samples stay below White.
type Exposure struct{ White, Share float64 }

// ForPriors is the exposure for networks and priors. Lamps in a dark scene may become brighter than white. White itself may be
// rounded up: a sixteenth of it in a file of 16 bits is 4096 of 65535.
var ForPriors = Exposure{White: 1 + 0.5/255, Share: 0.001}

// maxDoublings limits the factor of Brightened to 4096.
const maxDoublings = 12

// Brightened returns an image in the range that networks have learned from and priors are meant for, and the factor on its
// samples: the largest power of two, which rounds nothing, under which they are so exposed. An image
// that is not dark is returned itself. overwrite says that the samples may be written to.
func (p *Planes) Brightened(e Exposure, overwrite bool) (*Planes, float64) {
	var counts [maxDoublings + 1]int // of samples, by how often they may be doubled
	left := int(e.Share * float64(len(p.Pix)))
	for _, v := range p.Pix {
		_, exponent := math.Frexp(max(float64(v)/e.White, 0x1p-13))
		counts[max(-exponent, 0)]++
		if counts[0] > left { // what most images show early
			return p, 1
		}
	}
	doublings := 0
	for left -= counts[0]; left >= 0; left -= counts[doublings] {
		doublings++
	}
	factor := math.Ldexp(1, doublings)
	bright := *p
	if !overwrite {
		bright.Pix = make([]float32, len(p.Pix))
	}
	for i, v := range p.Pix {
		bright.Pix[i] = float32(factor) * v
	}
	return &bright, factor
}

// InRange returns what solve makes of the image Brightened, as dark as the image was. levels has what else is in the units of
// the samples; while solve runs it is brightened, too.
func (p *Planes) InRange(e Exposure, overwrite bool, levels interface{ Scale(factor float64) }, solve func(bright *Planes, factor float64) ([]float32, error)) ([]float32, error) {
	bright, factor := p.Brightened(e, overwrite)
	if factor == 1 {
		return solve(p, 1)
	}
	levels.Scale(factor)
	out, err := solve(bright, factor)
	levels.Scale(1 / factor)
	for i := range out {
		out[i] /= float32(factor)
	}
	return out, err
}
