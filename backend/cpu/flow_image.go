package cpu

import "github.com/averaged/imaging/backend"

// flowImage is what a flow reads or writes: a buffer, or one whose pixels are shuffled into channels
// (backend.Shuffles) on the way.
type flowImage struct {
	shape  backend.Shape // after that
	factor int           // 1 for the buffer as it is
	fine   *buffer       // or nil
}

func asItIs(b *buffer) flowImage { return flowImage{b.Shape, 1, b} }

func unshuffled(b *buffer, factor int) flowImage {
	return flowImage{b.Shape.Unshuffled(factor), factor, b}
}

// line returns row y of a channel: every factor-th number of it, from the first on, is a pixel. It ends
// where the buffer does.
func (f flowImage) line(n, channel, y int) []float32 {
	s, q := f.fine.Shape, f.factor
	of, dy, dx := channel/(q*q), channel/q%q, channel%q
	if row := y*q + dy; row < s.H && dx < s.W {
		return f.fine.Data[((n*s.C+of)*s.H+row)*s.W:][dx:s.W]
	}
	return nil
}

// radiusMap has radii for every pixel and group: numbers, or codes.
type radiusMap struct {
	shape   backend.Shape
	numbers []float32
	coded   backend.CodedRadii
}

// read sets dst to the radii of a group from a pixel on.
func (m *radiusMap) read(dst []float32, n, group, y, x int) {
	s := m.shape
	at := ((n*s.C+group)*s.H+y)*s.W + x
	if m.numbers != nil {
		copy(dst, m.numbers[at:])
		return
	}
	table := &m.coded.Tables[group]
	for i, code := range m.coded.Codes[at:][:len(dst)] {
		dst[i] = table[code]
	}
}
