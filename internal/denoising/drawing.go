package denoising

import (
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
)

// equalShare is the share of visible pixels that are equal to their left neighbour in all channels, as drawings have many.
// Squares whose visible pixels are mostly clipped do not count, unless all are, because clipping makes pixels equal.
func equalShare(p *imageplanes.Planes) float64 {
	var visible, equal [2]int // of pixels in squares that are mostly clipped, and in others
	for y := 0; y < p.Height; y += noise.Square {
		for x := 0; x < p.Width; x += noise.Square {
			seen, clipped, same := countPixels(p, y, x)
			open := 0
			if 2*clipped < seen {
				open = 1
			}
			visible[open] += seen
			equal[open] += same
		}
	}
	open := min(visible[1], 1)
	return float64(equal[open]) / float64(max(visible[open], 1))
}

// countPixels counts the visible pixels of a square, and those of them that are clipped or equal to their left neighbour.
func countPixels(p *imageplanes.Planes, top, left int) (visible, clipped, equal int) {
	n := p.Width * p.Height
	for y := top; y < min(top+noise.Square, p.Height); y++ {
		for x := left; x < min(left+noise.Square, p.Width); x++ {
			at, before := y*p.Width+x, y*p.Width+x-1
			if p.Alpha != nil && p.Alpha[at] == 0 {
				continue
			}
			limit, same := false, x > 0 && (p.Alpha == nil || p.Alpha[before] > 0)
			for c := 0; c < len(p.Pix); c += n {
				v := p.Pix[c+at]
				limit = limit || v <= 0 || v >= 1
				same = same && v == p.Pix[c+before]
			}
			visible++
			if limit {
				clipped++
			}
			if same {
				equal++
			}
		}
	}
	return visible, clipped, equal
}
