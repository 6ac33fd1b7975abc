package denoising

import (
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/levelmap"
)

// equalShare is the share of visible pixels that are equal to their left neighbour in all channels, as drawings have many.
// Squares whose visible pixels are mostly clipped do not count, unless all are, because clipping makes pixels equal.
func equalShare(p *imageplanes.Planes) float64 {
	var some, all pixelCounts
	for y := 0; y < p.Height; y += levelmap.Square {
		for x := 0; x < p.Width; x += levelmap.Square {
			n := countPixels(p, y, min(y+levelmap.Square, p.Height), x, min(x+levelmap.Square, p.Width))
			all.add(n)
			if 2*n.clipped < n.visible {
				some.add(n)
			}
		}
	}
	if some.visible == 0 {
		some = all
	}
	return float64(some.equal) / float64(max(some.visible, 1))
}

// pixelCounts are numbers of pixels. Those that are clipped or equal to their left neighbour are visible.
type pixelCounts struct{ visible, clipped, equal int }

func (n *pixelCounts) add(m pixelCounts) {
	n.visible += m.visible
	n.clipped += m.clipped
	n.equal += m.equal
}

// countPixels counts those of a rectangle of an image that has alpha.
func countPixels(p *imageplanes.Planes, y0, y1, x0, x1 int) (n pixelCounts) {
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			i := y*p.Width + x
			if p.Alpha[i] == 0 {
				continue
			}
			clipped, equal := false, x > 0 && p.Alpha[i-1] > 0
			for c := i; c < len(p.Pix); c += len(p.Alpha) {
				clipped = clipped || p.Pix[c] <= 0 || p.Pix[c] >= 1
				equal = equal && p.Pix[c] == p.Pix[c-1]
			}
			n.visible++
			if clipped {
				n.clipped++
			}
			if equal {
				n.equal++
			}
		}
	}
	return n
}
