package picture

import (
	"image"

	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/metadata"
)

// Lose makes the pixels grey that follow those that could be read: rows from y on,
// of which the first has been read up to column x, for bandHeight rows.
func (m *Image) Lose(x, y, bandHeight int) {
	if y >= m.Height {
		m.Warn("the file is damaged, but all of its pixels can be read")
		return
	}
	const grey = 0.5
	whole := y // the first row of which nothing has been read
	if x > 0 {
		whole = min(y+bandHeight, m.Height)
	}
	for row := y; row < m.Height; row++ {
		from := row * m.Width
		if row < whole {
			from += min(x, m.Width)
		}
		to := (row + 1) * m.Width
		for c := range m.Channels {
			p := m.Plane(c)
			for i := from; i < to; i++ {
				p[i] = grey
			}
		}
		if m.Alpha != nil {
			for i := from; i < to; i++ {
				m.Alpha[i] = samples.Opaque
			}
		}
	}
	if whole < m.Height {
		m.Lost = image.Rect(0, whole, m.Width, m.Height)
	}
	m.Warn("the file is damaged: of its %d rows the last %d cannot be read or not whole; what is missing is grey", m.Height, m.Height-y)
}

// turnLost follows an image that is turned.
func (m *Image) turnLost(c metadata.Change) {
	if m.Lost.Empty() {
		return
	}
	x0, y0 := c.Place(m.Lost.Min.X, m.Lost.Min.Y)
	x1, y1 := c.Place(m.Lost.Max.X-1, m.Lost.Max.Y-1)
	m.Lost = image.Rect(min(x0, x1), min(y0, y1), max(x0, x1)+1, max(y0, y1)+1)
}

// Found returns the rows or columns of an image that are not Lost: a rectangle with
// at least one pixel, for an image that has been read.
func (m *Image) Found() image.Rectangle {
	r := image.Rect(0, 0, m.Width, m.Height)
	switch lost := m.Lost; {
	case lost.Empty():
	case lost.Min.Y > 0:
		r.Max.Y = lost.Min.Y
	case lost.Max.Y < m.Height:
		r.Min.Y = lost.Max.Y
	case lost.Min.X > 0:
		r.Max.X = lost.Min.X
	default:
		r.Min.X = lost.Max.X
	}
	return r
}
