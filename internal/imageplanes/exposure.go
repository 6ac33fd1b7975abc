package imageplanes

// An image is dark if darkShare of its samples are below darkLevel.
const (
	darkShare = 0.999
	darkLevel = 0.5
)

// NormaliseExposure returns the samples of an image times a gain, 1 unless it is dark: in their own memory if overwrite says
// so. So a dark image fills the range that networks have learned from and priors are meant for.
func NormaliseExposure(p *Planes, overwrite bool) (pix []float32, gain float32) {
	// The quantile of a histogram of the samples in [0, 1) is near enough.
	var counts [1 << 12]int
	bin := func(v float32) int { return int(min(max(v, 0), 1) * float32(len(counts)-1)) }
	left, k := int((1-darkShare)*float64(len(p.Pix))), len(counts)
	lowest, above := int(darkLevel*float32(len(counts)))-1, 0 // a bin of which the upper end is the limit
	for _, v := range p.Pix {
		if bin(v) < lowest {
			continue
		}
		if above++; above > left { // what most images show early
			return p.Pix, 1
		}
	}
	for _, v := range p.Pix {
		counts[bin(v)]++
	}
	for k > 0 && left >= 0 {
		k--
		left -= counts[k]
	}
	gain = float32(len(counts)) / float32(k+1)
	if pix = p.Pix; !overwrite {
		pix = make([]float32, len(p.Pix))
	}
	for i, v := range p.Pix {
		pix[i] = gain * v
	}
	return pix, gain
}
