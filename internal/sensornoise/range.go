package sensornoise

import (
	"math"
	"slices"
)

// maxElectrons is more than any pixel holds. The noise of light is the root of their number, and so never less than a
// thousandth of it.
const maxElectrons = 1e6

// FindRange sets Low and High to the numbers between which the samples have noise: −Inf and white, or less, because many files have a
// white level that their sensor never reaches, or margins of one number. A block of 8×8 samples that is filled with the smallest sample
// is beyond Low. A block at the largest sample is beyond High if its samples differ less than maxElectrons would; they may differ
// a little where pixels saturate at numbers of their own.
func (p *Plane) FindRange(white float32) {
	p.Low, p.High = float32(math.Inf(-1)), white
	if len(p.Pix) == 0 {
		return
	}
	least, most := p.Pix[0], p.Pix[0]
	for _, v := range p.Pix {
		least, most = min(least, v), max(most, v)
	}
	if least == most { // There is no noise.
		return
	}
	variance := most * most / maxElectrons
	var ends []float32 // of the saturated blocks
	for y := 0; y+side <= p.Height; y += side {
		for x := 0; x+side <= p.Width; x += side {
			switch v := p.Pix[y*p.Width+x]; {
			case v == least && v > p.Low:
				if first, last, _ := p.spread(x, y); first == last {
					p.Low = v
				}
			case v > .9*most:
				first, last, squares := p.spread(x, y)
				// The largest of many samples is further away than the largest of a block.
				if width := last - first; squares <= variance && last+width >= most {
					ends = append(ends, first-width)
				}
			}
		}
	}
	if len(ends) > 0 {
		slices.Sort(ends)
		p.High = min(white, ends[len(ends)/2])
	}
}

// spread returns the smallest and the largest sample of a block, and the variance.
func (p Plane) spread(x0, y0 int) (first, last, variance float32) {
	var sum, squares float64
	origin := p.Pix[y0*p.Width+x0]
	first, last = origin, origin
	for y := range side {
		for _, v := range p.Pix[(y0+y)*p.Width+x0:][:side] {
			first, last = min(first, v), max(last, v)
			d := float64(v - origin)
			sum, squares = sum+d, squares+d*d
		}
	}
	const n = side * side
	return first, last, float32((squares - sum*sum/n) / n)
}
