package sensornoise

// Range returns the numbers between which the samples of a plane have noise: low and high, or its smallest and its largest sample
// where these fill a block of 8×8 samples, which noise would not leave alike. Many files have a white level that their sensor never
// reaches, or margins of one number.
func (p Plane) Range(low, high float32) (from, to float32) {
	if len(p.Pix) == 0 {
		return low, high
	}
	least, most := p.Pix[0], p.Pix[0]
	for _, v := range p.Pix {
		least, most = min(least, v), max(most, v)
	}
	if least == most { // There is no noise.
		return low, high
	}
	if least > low && p.hasBlockOf(least) {
		low = least
	}
	if most < high && p.hasBlockOf(most) {
		high = most
	}
	return low, high
}

// hasBlockOf tells whether one of the blocks side by side has only samples v.
func (p Plane) hasBlockOf(v float32) bool {
	for y := 0; y+side <= p.Height; y += side {
		for x := 0; x+side <= p.Width; x += side {
			if p.isFilled(x, y, v) {
				return true
			}
		}
	}
	return false
}

func (p Plane) isFilled(x0, y0 int, v float32) bool {
	for y := range side {
		for _, u := range p.Pix[(y0+y)*p.Width+x0:][:side] {
			if u != v {
				return false
			}
		}
	}
	return true
}
