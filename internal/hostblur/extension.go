package hostblur

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
)

// extension is E along one axis: sample e of the extended axis is sample from[e] of
// the image, or zero where from[e] is negative. Samples lead…lead+n−1 of it are the
// image itself.
type extension struct {
	n, lead int
	from    []int32
}

// newExtension continues n samples as far as a kernel of the given size and centre
// reaches, so that a valid convolution gives n samples, or not at all for Valid.
func newExtension(n, size, centre int, boundary backend.Boundary) extension {
	e := extension{n: n, lead: size - 1 - centre, from: make([]int32, n+size-1)}
	if boundary == backend.Valid {
		return identity(n)
	}
	for i := range e.from {
		at := i - e.lead
		switch {
		case at >= 0 && at < n:
		case boundary == backend.Zero:
			at = -1
		case boundary == backend.Circular:
			at = (at%n + n) % n
		default:
			// Mirrored with the edge sample repeated, period 2n.
			if at = (at%(2*n) + 2*n) % (2 * n); at >= n {
				at = 2*n - 1 - at
			}
		}
		e.from[i] = int32(at)
	}
	return e
}

// identity does not continue anything.
func identity(n int) extension {
	e := extension{n: n, from: make([]int32, n)}
	for i := range e.from {
		e.from[i] = int32(i)
	}
	return e
}

// extended hands over the rows of E·x.
func (b *Blur) extended(image []float32) fft.Rows {
	h, w := b.spec.H, b.spec.W
	lead, tail := b.x.from[:b.x.lead], b.x.from[b.x.lead+w:]
	return fft.Rows{H: len(b.y.from), W: len(b.x.from), Row: func(plane, y int, row []float32) {
		from := b.y.from[y]
		if from < 0 {
			clear(row)
			return
		}
		line := image[(plane*h+int(from))*w:][:w]
		gather(row, line, lead)
		copy(row[len(lead):], line)
		gather(row[len(lead)+w:], line, tail)
	}}
}

// gather sets row[i] to line[from[i]], or to zero where that is negative.
func gather(row, line []float32, from []int32) {
	row = row[:len(from)]
	for i, f := range from {
		if f < 0 {
			row[i] = 0
		} else {
			row[i] = line[f]
		}
	}
}

// fold is Eᵀ: it takes the rows of an extended image, in any order and several at
// the same time. Rows of the image itself go to their place, the others wait in
// beside until all are there, so that sums are made in one fixed order.
type fold struct {
	blur   *Blur
	dst    []float32
	beside []float32 // plane by plane the rows before and behind the image
}

func (b *Blur) newFold(dst []float32, planes int) *fold {
	rows := len(b.y.from) - b.y.n
	return &fold{blur: b, dst: dst, beside: make([]float32, planes*rows*b.spec.W)}
}

// besides returns the place of extended row y, which is not of the image itself.
func (f *fold) besides(plane, y int) []float32 {
	if y >= f.blur.y.lead {
		y -= f.blur.y.n
	}
	w := f.blur.spec.W
	return f.beside[(plane*(len(f.blur.y.from)-f.blur.y.n)+y)*w:][:w]
}

func (f *fold) rows() fft.Rows {
	ey, ex := &f.blur.y, &f.blur.x
	h, w := f.blur.spec.H, f.blur.spec.W
	return fft.Rows{H: len(ey.from), W: len(ex.from), Row: func(plane, y int, row []float32) {
		if ey.from[y] < 0 {
			return
		}
		line := row[ex.lead : ex.lead+w]
		for x, from := range ex.from[:ex.lead] {
			if from >= 0 {
				line[from] += row[x]
			}
		}
		for i, from := range ex.from[ex.lead+w:] {
			if from >= 0 {
				line[from] += row[ex.lead+w+i]
			}
		}
		if at := y - ey.lead; at >= 0 && at < h {
			copy(f.dst[(plane*h+at)*w:], line)
		} else {
			copy(f.besides(plane, y), line)
		}
	}}
}

// finish adds the rows that waited.
func (f *fold) finish(plane int) {
	ey := &f.blur.y
	h, w := f.blur.spec.H, f.blur.spec.W
	for y, from := range ey.from {
		if at := y - ey.lead; from < 0 || at >= 0 && at < h {
			continue
		}
		line := f.dst[(plane*h+int(from))*w:][:w]
		for x, v := range f.besides(plane, y) {
			line[x] += v
		}
	}
}
