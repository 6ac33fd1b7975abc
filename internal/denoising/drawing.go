package denoising

import (
	"slices"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
)

// isDrawn tells whether the squares of an image that have noise are drawn.
func isDrawn(p *imageplanes.Planes, m *denoise.LevelMap) bool {
	pairs, equal := 0, 0
	for i, v := range m.Sigma {
		if v > 0 {
			n, same := countPairs(p, m, i)
			pairs += n
			equal += same
		}
	}
	return float64(equal) > noise.MaxEqual*float64(pairs)
}

// isDrawnSquare tells whether square i of an image is drawn.
func isDrawnSquare(p *imageplanes.Planes, m *denoise.LevelMap, i int) bool {
	pairs, equal := countPairs(p, m, i)
	return float64(equal) > noise.MaxEqual*float64(pairs)
}

// leaveDrawn makes the levels of the drawn squares of an image 0, and returns the image without them, as if they were invisible.
func leaveDrawn(p *imageplanes.Planes, maps ...*denoise.LevelMap) *imageplanes.Planes {
	out := *p
	if out.Alpha = slices.Clone(p.Alpha); p.Alpha == nil {
		out.Alpha = slices.Repeat([]uint16{0xffff}, p.Width*p.Height)
	}
	side, columns := maps[0].Side, maps[0].Columns
	drawn := make([]bool, len(maps[0].Sigma))
	for i := range drawn {
		if drawn[i] = isDrawnSquare(p, maps[0], i); drawn[i] {
			for _, m := range maps {
				m.Sigma[i] = 0
			}
		}
	}
	for i := range out.Alpha {
		if drawn[i/p.Width/side*columns+i%p.Width/side] {
			out.Alpha[i] = 0
		}
	}
	return &out
}

// countPairs counts the pairs of visible neighbours, in a row or a column, of which the latter is in square i, and how many of
// them are equal in all channels, as drawings have many.
func countPairs(p *imageplanes.Planes, m *denoise.LevelMap, i int) (pairs, equal int) {
	n := p.Width * p.Height
	count := func(at, before int) {
		if p.Alpha != nil && p.Alpha[before] == 0 {
			return
		}
		pairs++
		for c := 0; c < len(p.Pix); c += n {
			if p.Pix[c+at] != p.Pix[c+before] {
				return
			}
		}
		equal++
	}
	top, left := i/m.Columns*m.Side, i%m.Columns*m.Side
	for y := top; y < min(top+m.Side, p.Height); y++ {
		for x := left; x < min(left+m.Side, p.Width); x++ {
			at := y*p.Width + x
			if p.Alpha != nil && p.Alpha[at] == 0 {
				continue
			}
			if x > 0 {
				count(at, at-1)
			}
			if y > 0 {
				count(at, at-p.Width)
			}
		}
	}
	return pairs, equal
}
