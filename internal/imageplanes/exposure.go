package imageplanes

import "math"

// DarkShare is the share of an image's samples that may become white or brighter in Brightened: lamps in a dark scene.
const DarkShare = 0.001

// maxDoublings limits the factor of Brightened to 4096.
const maxDoublings = 12

// Brightened returns an image in the range that networks have learned from and priors are meant for, and the factor on its
// samples: the largest power of two, which rounds nothing, under which all but that share of them stay below white. An image
// that is not dark is returned itself. overwrite says that the samples may be written to.
func (p *Planes) Brightened(share float64, overwrite bool) (*Planes, float64) {
	var counts [maxDoublings + 1]int // of samples, by how often they may be doubled
	left := int(share * float64(len(p.Pix)))
	for _, v := range p.Pix {
		_, exponent := math.Frexp(max(float64(v), 0x1p-13))
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
func (p *Planes) InRange(share float64, overwrite bool, levels interface{ Scale(factor float64) }, solve func(bright *Planes, factor float64) ([]float32, error)) ([]float32, error) {
	bright, factor := p.Brightened(share, overwrite)
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
