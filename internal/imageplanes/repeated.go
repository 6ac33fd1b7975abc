package imageplanes

// Repetition returns the largest n for which the image is made of squares of n×n equal pixels, and 1 if there is none: it is 2
// if the pixels of a smaller image were doubled (nearest neighbour).
func (p *Planes) Repetition() int {
	n := gcd(p.Width, p.Height)
	for i := 0; i < p.Width*p.Height && n > 1; i++ {
		if x := i % p.Width; x%n != 0 && !p.equal(i, i-1) {
			n = gcd(n, x)
		}
		if y := i / p.Width; y%n != 0 && !p.equal(i, i-p.Width) {
			n = gcd(n, y)
		}
	}
	return n
}

// gcd is the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// equal says whether two pixels have one colour and opacity.
func (p *Planes) equal(i, j int) bool {
	if p.Alpha != nil && p.Alpha[i] != p.Alpha[j] {
		return false
	}
	for c := 0; c < len(p.Pix); c += p.Width * p.Height {
		if p.Pix[c+i] != p.Pix[c+j] {
			return false
		}
	}
	return true
}

// Reduced returns the image with the first pixel of each n×n, where n divides both sides.
func (p *Planes) Reduced(n int) *Planes {
	out := New(p.Channels, p.Height/n, p.Width/n)
	for i := range out.Pix {
		out.Pix[i] = p.Pix[i/out.Width*n*p.Width+i%out.Width*n]
	}
	if p.Alpha != nil {
		out.Alpha = make([]uint16, out.Width*out.Height)
		for i := range out.Alpha {
			out.Alpha[i] = p.Alpha[i/out.Width*n*p.Width+i%out.Width*n]
		}
	}
	return out
}

// Repeated returns the samples of an image of the same size as p, of which pix has those of its reduced one.
func (p *Planes) Repeated(pix []float32, n int) []float32 {
	out := make([]float32, len(pix)*n*n)
	for i := range out {
		out[i] = pix[i/p.Width/n*(p.Width/n)+i%p.Width/n]
	}
	return out
}
