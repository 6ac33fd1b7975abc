package rawdenoise

import (
	"context"
	"math"

	"github.com/averaged/imaging/internal/demosaic"
)

// denoiseMosaic denoises a mosaic, as the documentation of the package says.
func (s *stabilised) denoiseMosaic(ctx context.Context, d Denoisers) error {
	sigma := 1 / s.span
	pattern := demosaic.Pattern{uint8(s.Pattern[0][0]), uint8(s.Pattern[0][1]), uint8(s.Pattern[1][0]), uint8(s.Pattern[1][1])}
	q := newQuads(s.Height, s.Width, pattern)
	quads, err := d.White(ctx, Picture{q.width, q.height, 3, q.colours(s.pix)}, sigma)
	if err != nil {
		return err
	}
	m := demosaic.New(s.Height, s.Width, pattern)
	m.Fill(s.pix)
	n := s.Height * s.Width
	full := make([]float32, 3*n)
	m.Planes(full, demosaic.Malvar, nil)
	m = nil // its memory is that of the picture
	if full, err = d.Demosaicked(ctx, Picture{s.Width, s.Height, 3, full}, sigma); err != nil {
		return err
	}
	for i := range s.pix {
		s.pix[i] = full[pattern.At(i/s.Width, i%s.Width)*n+i]
	}
	q.mix(s.pix, quads)
	return nil
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

// mix replaces the coordinates of the squares by the mean of theirs and those of planes, as colours returns them.
func (q quads) mix(pix, planes []float32) {
	n := q.height * q.width
	own := q.colours(pix)
	add := func(i int, v float32) { pix[i] += v }
	for i := range n {
		y, x := i/q.width, i%q.width
		r, g, b := planes[i]-own[i], planes[n+i]-own[n+i], planes[2*n+i]-own[2*n+i]
		light, side, green := (r+g+b)/root3, (r-b)/root2, (2*g-r-b)/root6
		// Half of the difference.
		light, side, green = light/4, side/root2/2, green/4
		if 2*y+1 < q.h && 2*x+1 < q.w {
			add(q.at(y, x, q.red), light+side-green)
			add(q.at(y, x, q.blue), light-side-green)
			add(q.at(y, x, q.greens[0]), light+green)
			add(q.at(y, x, q.greens[1]), light+green)
		}
	}
}
