package rawdenoise

import (
	"context"
	"math"

	"github.com/averaged/imaging/internal/demosaic"
)

// phases are the squares that begin at the first pixel of a mosaic, and those that begin one to the right and below.
const phases = 2

// What squares take of the way from the demosaicked image to theirs, in brightness and in the two directions of colour: those of the
// second phase, and then of what that leads to those of the first. By measurement on simulated raw images from ISO 400 to 25600.
var shares = [phases]struct{ light, colour float32 }{{.45, .3}, {.8, .4}}

// denoiseMosaic denoises a mosaic, as the documentation of the package says.
func (s *stabilised) denoiseMosaic(ctx context.Context, d Denoisers) error {
	sigma := 1 / s.span
	pattern := demosaic.Pattern{uint8(s.Pattern[0][0]), uint8(s.Pattern[0][1]), uint8(s.Pattern[1][0]), uint8(s.Pattern[1][1])}
	// What takes most memory comes first.
	out, err := s.denoiseDemosaicked(ctx, d.Demosaicked, pattern, sigma)
	if err != nil {
		return err
	}
	s.recall()
	for phase := phases - 1; phase >= 0; phase-- {
		q := newQuads(s.Height, s.Width, pattern, phase)
		squares, err := d.White(ctx, Picture{q.width, q.height, 3, q.colours(s.pix)}, sigma)
		if err != nil {
			return err
		}
		q.mix(out, squares, shares[phase].light, shares[phase].colour)
	}
	s.pix = out
	return nil
}

// denoiseDemosaicked returns the mosaic after it was balanced, demosaicked and denoised. It forgets s.pix.
func (s *stabilised) denoiseDemosaicked(ctx context.Context, denoise Denoiser, pattern demosaic.Pattern, sigma float64) ([]float32, error) {
	gains, green := s.balance()
	gainSquares := 0. // of the gains of four pixels
	for _, c := range pattern {
		gainSquares += float64(gains[c]) * float64(gains[c])
	}
	n := s.Height * s.Width
	mosaic := make([]float32, n)
	for i := range mosaic {
		mosaic[i] = (s.pix[i]-s.mean)*gains[pattern.At(i/s.Width, i%s.Width)] + green
	}
	s.forget()
	m := demosaic.New(s.Height, s.Width, pattern)
	m.Fill(mosaic)
	full := make([]float32, 3*n)
	m.Planes(full, demosaic.HamiltonAdams, make([]float32, len(m.V)))
	m, mosaic = nil, nil // their memory is that of the picture
	full, err := denoise(ctx, Picture{s.Width, s.Height, 3, full}, sigma*math.Sqrt(gainSquares/4))
	if err != nil {
		return nil, err
	}
	mosaic = make([]float32, n)
	for i := range mosaic {
		c := pattern.At(i/s.Width, i%s.Width)
		mosaic[i] = (full[c*n+i]-green)/gains[c] + s.mean
	}
	return mosaic, nil
}

// balance returns the mean of green, and gains that, about the means, give the other colours the same without their shift: edges
// then look alike in all colours, which demosaicking relies on. Gains above 2 would make noise too uneven.
func (s *stabilised) balance() (gains [3]float32, green float32) {
	const most = 2
	green = s.mean - s.shift[1]
	for c := range gains {
		gains[c] = 1
		if mean := s.mean - s.shift[c]; green > 0 && mean > 0 {
			gains[c] = min(max(green/mean, 1./most), most)
		}
	}
	return gains, green
}

// quads are the squares of two by two pixels of a mosaic. Where they do not end with it, the mirror image goes on.
type quads struct {
	first, stride int // the first pixel, and the distance of rows
	h, w          int // of what begins there
	width, height int // of the squares
	// The places of red, the greens and blue in a square: y·2 + x.
	red, blue int
	greens    [2]int
}

// newQuads returns the squares of a mosaic that begin phase pixels, 0 or 1, to the right and below its first one.
func newQuads(h, w int, pattern demosaic.Pattern, phase int) quads {
	q := quads{first: phase * (w + 1), stride: w, h: h - phase, w: w - phase}
	q.width, q.height = (q.w+1)/2, (q.h+1)/2
	if phase == 1 {
		pattern = demosaic.Pattern{pattern[3], pattern[2], pattern[1], pattern[0]}
	}
	var greens []int
	for k, c := range pattern {
		switch c {
		case 0:
			q.red = k
		case 2:
			q.blue = k
		default:
			greens = append(greens, k)
		}
	}
	q.greens = [2]int(greens)
	return q
}

// at is the place of a pixel of a square in the mosaic.
func (q quads) at(y, x, k int) int {
	y, x = 2*y+k/2, 2*x+k%2
	if y == q.h {
		y -= 2
	}
	if x == q.w {
		x -= 2
	}
	return q.first + y*q.stride + x
}

// The orthonormal axes of four samples of a square, (r, g, g', b): brightness (r + g + g' + b)/2, red against blue
// (r − b)/√2, green against both (g + g' − r − b)/2; and those of a pixel of red, green and blue: (r + g + b)/√3, (r − b)/√2 and
// (2g − r − b)/√6.
var (
	root2 = float32(math.Sqrt(2))
	root3 = float32(math.Sqrt(3))
	root6 = float32(math.Sqrt(6))
)

// colours returns the planes of red, green and blue that have the coordinates of the squares, but for the
// difference of their greens.
func (q quads) colours(pix []float32) []float32 {
	n := q.height * q.width
	out := make([]float32, 3*n)
	for i := range n {
		y, x := i/q.width, i%q.width
		r, b := pix[q.at(y, x, q.red)], pix[q.at(y, x, q.blue)]
		g := pix[q.at(y, x, q.greens[0])] + pix[q.at(y, x, q.greens[1])]
		light, side, green := (r+g+b)/2, (r-b)/root2, (g-r-b)/2
		out[i] = light/root3 + side/root2 - green/root6
		out[n+i] = light/root3 + 2*green/root6
		out[2*n+i] = light/root3 - side/root2 - green/root6
	}
	return out
}

// mix moves the coordinates of the whole squares towards those of planes, as colours returns them, by shares of the way.
func (q quads) mix(pix, planes []float32, ofLight, ofColour float32) {
	n := q.height * q.width
	own := q.colours(pix)
	add := func(i int, v float32) { pix[i] += v }
	for i := range n {
		y, x := i/q.width, i%q.width
		r, g, b := planes[i]-own[i], planes[n+i]-own[n+i], planes[2*n+i]-own[2*n+i]
		light, side, green := (r+g+b)/root3, (r-b)/root2, (2*g-r-b)/root6
		light, side, green = light*ofLight/2, side*ofColour/root2, green*ofColour/2
		if 2*y+1 < q.h && 2*x+1 < q.w {
			add(q.at(y, x, q.red), light+side-green)
			add(q.at(y, x, q.blue), light-side-green)
			add(q.at(y, x, q.greens[0]), light+green)
			add(q.at(y, x, q.greens[1]), light+green)
		}
	}
}
