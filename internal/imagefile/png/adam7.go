package png

import (
	"image"
	"iter"

	"github.com/averaged/imaging/internal/imagefile/picture"
)

// An interlaced PNG is stored in seven passes, each of which adds pixels between those that are
// there (ISO/IEC 15948, section 8.2).

// pass says which pixels a pass has, and how large the blocks are of which one pixel is known
// when it has been read.
type pass struct {
	x, y          int // its first pixel
	across, down  int // from one of its pixels to the next
	width, height int // of blocks
}

var adam7 = [7]pass{
	{0, 0, 8, 8, 8, 8}, {4, 0, 8, 8, 4, 8}, {0, 4, 4, 8, 4, 4}, {2, 0, 4, 4, 2, 4}, {0, 2, 2, 4, 2, 2}, {1, 0, 2, 2, 1, 2}, {0, 1, 1, 2, 1, 1},
}

// size is the columns and rows of a pass in an image.
func (p pass) size(width, height int) (w, h int) {
	return max(0, (width-p.x+p.across-1)/p.across), max(0, (height-p.y+p.down-1)/p.down)
}

// rows yields the number and the width of each row, in the order of the file.
func (h imageHeader) rows() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		passes := []pass{{0, 0, 1, 1, 1, 1}}
		if h.laced != 0 {
			passes = adam7[:]
		}
		n := 0
		for _, p := range passes {
			w, rows := p.size(h.width, h.height)
			if w == 0 {
				continue
			}
			for range rows {
				if !yield(n, w) {
					return
				}
				n++
			}
		}
	}
}

// loseDetail gives each pixel of an interlaced image that could not be read the value of the
// nearest one, left of it and above, that an earlier pass has. read is how many of its rows, in
// the order of the file, have been read. Where not even the first pass has a row, it is lost.
func loseDetail(m *picture.Image, read int) {
	var found [7]int // rows of each pass
	left := read
	for i, p := range adam7 {
		if w, rows := p.size(m.Width, m.Height); w > 0 {
			found[i] = min(left, rows)
			left -= found[i]
		}
	}
	w, rows := adam7[0].size(m.Width, m.Height)
	if w > 0 && found[0] < rows {
		m.Lose(0, min(m.Height, 8*found[0]), 1)
	}
	// known tells whether a pixel has been read.
	known := func(x, y int) bool {
		for i, p := range adam7 {
			if x%p.across == p.x && y%p.down == p.y {
				return y/p.down < found[i]
			}
		}
		return false
	}
	missing := false
	for y := range m.Found().Max.Y {
		for x := range m.Width {
			if known(x, y) {
				continue
			}
			missing = true
			for i := len(adam7) - 2; i >= 0; i-- {
				p := adam7[i]
				if from := image.Pt(x-x%p.width, y-y%p.height); known(from.X, from.Y) {
					copyPixel(m, y*m.Width+x, from.Y*m.Width+from.X)
					break
				}
			}
		}
	}
	switch {
	case missing:
		m.Warn("the interlaced file is damaged: detail is missing that its later passes add")
	case m.Lost.Empty():
		m.Warn("the file is damaged, but all of its pixels can be read")
	}
}

func copyPixel(m *picture.Image, to, from int) {
	for c := range m.Channels {
		p := m.Plane(c)
		p[to] = p[from]
	}
	if m.Alpha != nil {
		m.Alpha[to] = m.Alpha[from]
	}
}
