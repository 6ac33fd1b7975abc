package rawdenoise

import (
	"context"
	"math"

	"github.com/averaged/imaging/internal/demosaic"
)

// How much of the mean is that of the squares: in brightness, and in the two directions of colour. By measurement on simulated
// raw images from ISO 400 to 25600.
const squaresOfLight, squaresOfColour = .7, .3

// denoiseMosaic denoises a mosaic, as the documentation of the package says.
func (s *stabilised) denoiseMosaic(ctx context.Context, d Denoisers) error {
	sigma := 1 / s.span
	pattern := demosaic.Pattern{uint8(s.Pattern[0][0]), uint8(s.Pattern[0][1]), uint8(s.Pattern[1][0]), uint8(s.Pattern[1][1])}
	q := newQuads(s.Height, s.Width, pattern)
	quads, err := d.White(ctx, Picture{q.width, q.height, 3, q.colours(s.pix)}, sigma)
	if err != nil {
		return err
	}
	gains, green := s.balance()
	squares := 0. // of the gains of the pixels of a square
	for i := range s.pix {
		s.pix[i] = (s.pix[i]-s.mean)*gains[pattern.At(i/s.Width, i%s.Width)] + green
	}
	for _, c := range pattern {
		squares += float64(gains[c]) * float64(gains[c])
	}
	m := demosaic.New(s.Height, s.Width, pattern)
	m.Fill(s.pix)
	n := s.Height * s.Width
	full := make([]float32, 3*n)
	m.Planes(full, demosaic.HamiltonAdams, make([]float32, len(m.V)))
	m = nil // its memory is that of the picture
	if full, err = d.Demosaicked(ctx, Picture{s.Width, s.Height, 3, full}, sigma*math.Sqrt(squares/4)); err != nil {
		return err
	}
	for i := range s.pix {
		c := pattern.At(i/s.Width, i%s.Width)
		s.pix[i] = (full[c*n+i]-green)/gains[c] + s.mean
	}
	q.mix(s.pix, quads)
	return nil
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

// quads are the squares of two by two pixels of a mosaic. Where its size is odd, the mirror image goes on.
type quads struct {
	h, w          int // of the mosaic
	width, height int // of the squares
	// The places of red, the greens and blue in a square: y·2 + x.
	red, blue int
	greens    [2]int
}

func newQuads(h, w int, pattern demosaic.Pattern) quads {
	q := quads{h: h, w: w, width: (w + 1) / 2, height: (h + 1) / 2}
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
	return y*q.w + x
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

// mix replaces the coordinates of the squares by a mean of theirs and those of planes, as colours returns them.
func (q quads) mix(pix, planes []float32) {
	n := q.height * q.width
	own := q.colours(pix)
	add := func(i int, v float32) { pix[i] += v }
	for i := range n {
		y, x := i/q.width, i%q.width
		r, g, b := planes[i]-own[i], planes[n+i]-own[n+i], planes[2*n+i]-own[2*n+i]
		light, side, green := (r+g+b)/root3, (r-b)/root2, (2*g-r-b)/root6
		light, side, green = light*squaresOfLight/2, side*squaresOfColour/root2, green*squaresOfColour/2
		if 2*y+1 < q.h && 2*x+1 < q.w {
			add(q.at(y, x, q.red), light+side-green)
			add(q.at(y, x, q.blue), light-side-green)
			add(q.at(y, x, q.greens[0]), light+green)
			add(q.at(y, x, q.greens[1]), light+green)
		}
	}
}
