package imageplanes

// Mirrored returns an image of at least height×width pixels, in which a shorter side is continued by its mirror image. One that is
// large enough is returned itself.
func (p *Planes) Mirrored(height, width int) *Planes {
	h, w := max(p.Height, height), max(p.Width, width)
	if h == p.Height && w == p.Width {
		return p
	}
	out := New(p.Channels, h, w)
	if p.Alpha != nil {
		out.Alpha = make([]uint16, h*w)
	}
	for y := range h {
		for x := range w {
			from, to := mirrored(y, p.Height)*p.Width+mirrored(x, p.Width), y*w+x
			for c := range p.Channels {
				out.Pix[c*h*w+to] = p.Pix[c*p.Height*p.Width+from]
			}
			if p.Alpha != nil {
				out.Alpha[to] = p.Alpha[from]
			}
		}
	}
	return out
}

// mirrored is the place among n samples, each end repeated, that a mirror shows at i.
func mirrored(i, n int) int {
	i %= 2 * n
	return min(i, 2*n-1-i)
}

// Unmirrored returns the samples of an image of which pix has those of the mirrored one, in the same memory.
func (p *Planes) Unmirrored(pix []float32, mirrored *Planes) []float32 {
	if mirrored == p {
		return pix
	}
	for row := range p.Channels * p.Height {
		from := row/p.Height*mirrored.Height + row%p.Height
		copy(pix[row*p.Width:][:p.Width], pix[from*mirrored.Width:])
	}
	return pix[:p.Channels*p.Height*p.Width]
}
