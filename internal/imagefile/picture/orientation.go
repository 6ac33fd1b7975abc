package picture

import (
	"fmt"

	"github.com/averaged/imaging/internal/metadata"
)

// Orient applies the orientation in m.Metadata.EXIF (TIFF 6.0, tag 274) to the
// pixels, and makes the metadata true of them. EXIF that cannot be read is dropped
// with a warning, because nobody could mend it, and so is XMP if there is something
// to mend, or if the file has other parts, which it may announce. keep leaves pixels and orientation as stored. What Orient
// returns tells of other parts of the file.
func (m *Image) Orient(keep, otherParts bool) *metadata.Followed {
	c := metadata.Change{Orientation: 1, From: [2]int{m.Width, m.Height}}
	want, err := m.Metadata.CleanEXIF()
	if err != nil {
		m.Warn("EXIF is dropped: %v", err)
	}
	if !keep {
		c.Orientation, c.Upright = max(want, 1), want > 0
		want = 1
	}
	c.To = c.Shown()
	m.applyOrientation(c)
	m.described = c.To
	f, err := m.Metadata.Follow(c)
	if err != nil && (c.Turned() || otherParts) {
		m.Metadata.XMP = nil
		m.Warn("XMP is dropped: %v", err)
	}
	if err := m.Metadata.CheckEXIF(max(want, 1)); err != nil {
		m.Warn("EXIF is dropped: %v", err)
	}
	for _, what := range f.Lost {
		m.Warn("not kept in the metadata, because the picture has been turned: %s", what)
	}
	return f
}

// Warn adds a warning.
func (m *Image) Warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

// applyOrientation turns the stored pixels the right way up. Orientation says
// where the first stored row and column are shown: 1 top and left, 2 top and
// right, 3 bottom and right, 4 bottom and left, 5 left and top, 6 right and top,
// 7 right and bottom, 8 left and bottom. From 5 on, rows become columns.
func (m *Image) applyOrientation(c metadata.Change) {
	if m.turned = c.Turned(); !m.turned {
		return
	}
	var (
		orientation = c.Orientation
		transpose   = orientation >= 5
		flipX       = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7
		flipY       = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8
		w, h, size  = m.Width, m.Height, m.Width * m.Height
	)
	if transpose && m.JPEG != nil {
		m.JPEG.transpose()
	}
	if transpose {
		scratch := make([]float32, size)
		for c := range m.Channels {
			transposePlane(scratch, m.Plane(c), w, h)
			copy(m.Plane(c), scratch)
		}
		if m.Alpha != nil {
			turned := make([]uint16, size)
			transposePlane(turned, m.Alpha, w, h)
			m.Alpha = turned
		}
		w, h = h, w
		m.Width, m.Height = w, h
		r := &m.Metadata.Resolution
		r.X, r.Y = r.Y, r.X
	}
	m.turnLost(c)
	for c := range m.Channels {
		flipPlane(m.Plane(c), w, h, flipX, flipY)
	}
	if m.Alpha != nil {
		flipPlane(m.Alpha, w, h, flipX, flipY)
	}
}

// transposePlane writes src, h rows of w, into dst as w rows of h. It works on
// squares, so that both sides stay in the cache.
func transposePlane[T any](dst, src []T, w, h int) {
	const side = 32
	for y0 := 0; y0 < h; y0 += side {
		y1 := min(y0+side, h)
		for x0 := 0; x0 < w; x0 += side {
			for x := x0; x < min(x0+side, w); x++ {
				for y := y0; y < y1; y++ {
					dst[x*h+y] = src[y*w+x]
				}
			}
		}
	}
}

// flipPlane mirrors h rows of w in place.
func flipPlane[T any](p []T, w, h int, flipX, flipY bool) {
	if flipX {
		for y := range h {
			row := p[y*w : (y+1)*w]
			for i, j := 0, w-1; i < j; i, j = i+1, j-1 {
				row[i], row[j] = row[j], row[i]
			}
		}
	}
	if flipY {
		for i, j := 0, h-1; i < j; i, j = i+1, j-1 {
			a, b := p[i*w:(i+1)*w], p[j*w:(j+1)*w]
			for x := range a {
				a[x], b[x] = b[x], a[x]
			}
		}
	}
}
