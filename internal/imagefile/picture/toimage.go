package picture

import (
	"encoding/binary"
	"image"
)

// ToImage copies m into an image of the standard library: *image.Gray or
// *image.Gray16 for a grey one without alpha, else *image.NRGBA or
// *image.NRGBA64. Depth 8 gives 8 bits, all others 16. Samples are rounded to
// nearest and clipped to [0,1]; not-a-number becomes 0.
func (m *Image) ToImage() image.Image {
	r := image.Rect(0, 0, m.Width, m.Height)
	var (
		out    image.Image
		pix    []byte
		stride int
		depth  = 16
		order  Layout
	)
	if m.Depth == 8 {
		depth = 8
	}
	switch {
	case m.Channels == 1 && m.Alpha == nil && depth == 8:
		g := image.NewGray(r)
		out, pix, stride, order = g, g.Pix, g.Stride, LayoutGrey
	case m.Channels == 1 && m.Alpha == nil:
		g := image.NewGray16(r)
		out, pix, stride, order = g, g.Pix, g.Stride, LayoutGrey
	case depth == 8:
		c := image.NewNRGBA(r)
		out, pix, stride, order = c, c.Pix, c.Stride, LayoutRGBA
	default:
		c := image.NewNRGBA64(r)
		out, pix, stride, order = c, c.Pix, c.Stride, LayoutRGBA
	}
	if m.Channels == 1 && m.Alpha != nil {
		order = LayoutGreyRGBA
	}
	for y := range m.Height {
		m.PackRow(pix[y*stride:], y, depth, order, binary.BigEndian)
	}
	return out
}
