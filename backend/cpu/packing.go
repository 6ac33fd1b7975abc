package cpu

// planes are the channels of an image, one after the other.
type planes struct {
	data []float32
	h, w int
}

// pack copies h rows and w columns of some channels, from row y and column x on, into
// rows that are pitch apart in channels that are plane apart. Where that is outside
// the image, and from column w to the given width, it puts zeros.
func (p planes) pack(to []float32, channels, plane, pitch, y, x, h, w, width int) {
	lo, hi := max(x, 0), min(x+w, p.w)
	for c := range channels {
		for r := range h {
			row := to[c*plane+r*pitch:][:width]
			if y+r < 0 || y+r >= p.h || lo >= hi {
				clear(row)
				continue
			}
			from := p.data[(c*p.h+y+r)*p.w:]
			clear(row[:lo-x])
			copy(row[lo-x:], from[lo:hi])
			clear(row[hi-x:])
		}
	}
}
