package denoising

import (
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
)

// equalShare is the share of pairs of neighbours, in a row or a column, that are equal in all channels, as drawings have many.
// It counts the visible pixels of the squares that have noise.
func equalShare(p *imageplanes.Planes, m *denoise.LevelMap) float64 {
	n := p.Width * p.Height
	same := func(a, b int) bool {
		for c := 0; c < len(p.Pix); c += n {
			if p.Pix[c+a] != p.Pix[c+b] {
				return false
			}
		}
		return true
	}
	pairs, equal := 0, 0
	count := func(at, before int) {
		if p.Alpha != nil && p.Alpha[before] == 0 {
			return
		}
		pairs++
		if same(at, before) {
			equal++
		}
	}
	for at := range n {
		y, x := at/p.Width, at%p.Width
		if m.Sigma[y/m.Side*m.Columns+x/m.Side] == 0 || p.Alpha != nil && p.Alpha[at] == 0 {
			continue
		}
		if x > 0 {
			count(at, at-1)
		}
		if y > 0 {
			count(at, at-p.Width)
		}
	}
	return float64(equal) / float64(max(pairs, 1))
}
