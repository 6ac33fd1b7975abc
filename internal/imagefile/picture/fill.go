package picture

import (
	"image"
	"image/color"

	"github.com/averaged/imaging/internal/imagefile/chroma"
	"github.com/averaged/imaging/internal/imagefile/samples"
)

// IsOpaque asks the image, where it knows.
func IsOpaque(src image.Image) bool {
	o, ok := src.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// GreyPalette tells whether all colours of a palette are greys.
func GreyPalette(p *image.Paletted) bool {
	for _, c := range p.Palette {
		if r, g, b, _ := c.RGBA(); r != g || g != b {
			return false
		}
	}
	return true
}

// Fill copies the samples of src, which has the size of m. Where m has one
// channel but src has colours, they are greys and the red one is taken; where m
// has no alpha, that of src is left out.
func (m *Image) Fill(src image.Image) {
	b := src.Bounds()
	w := m.Width
	var planes [3][]float32
	for c := range m.Channels {
		planes[c] = m.Plane(c)
	}
	for y := range m.Height {
		var row [3][]float32
		for c := range m.Channels {
			row[c] = planes[c][y*w : (y+1)*w]
		}
		var alpha []uint16
		if m.Alpha != nil {
			alpha = m.Alpha[y*w : (y+1)*w]
		}
		sy := b.Min.Y + y
		switch s := src.(type) {
		case *image.Gray:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				samples.Widen8(row[c], p, 1)
			}
			fillOpaque(alpha)
		case *image.Gray16:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				samples.Widen16(row[c], p, 2)
			}
			fillOpaque(alpha)
		case *image.NRGBA:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				samples.Widen8(row[c], p[c:], 4)
			}
			if alpha != nil {
				samples.Alpha8(alpha, p[3:], 4)
			}
		case *image.NRGBA64:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				samples.Widen16(row[c], p[2*c:], 8)
			}
			if alpha != nil {
				samples.Alpha16(alpha, p[6:], 8)
			}
		case *image.RGBA:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			if alpha != nil {
				samples.Alpha8(alpha, p[3:], 4)
			}
			for c := range m.Channels {
				samples.Widen8(row[c], p[c:], 4)
				samples.Unmultiply(row[c], alpha)
			}
		case *image.RGBA64:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			if alpha != nil {
				samples.Alpha16(alpha, p[6:], 8)
			}
			for c := range m.Channels {
				samples.Widen16(row[c], p[2*c:], 8)
				samples.Unmultiply(row[c], alpha)
			}
		case *image.YCbCr:
			fillYCbCr(&row, s, sy)
			fillOpaque(alpha)
		case *image.NYCbCrA:
			fillYCbCr(&row, &s.YCbCr, sy)
			if alpha != nil {
				samples.Alpha8(alpha, s.A[s.AOffset(b.Min.X, sy):], 1)
			}
		case *image.CMYK:
			fillCMYK(&row, s.Pix[s.PixOffset(b.Min.X, sy):])
			fillOpaque(alpha)
		case *image.Paletted:
			fillPaletted(&row, alpha, s.Pix[s.PixOffset(b.Min.X, sy):], s.Palette)
		default:
			fillAny(&row, alpha, src, sy)
		}
	}
}

func fillOpaque(alpha []uint16) {
	for x := range alpha {
		alpha[x] = samples.Opaque
	}
}

// fillYCbCr converts to the nearest 8-bit colours, with the chroma sample that
// At takes for each pixel.
func fillYCbCr(row *[3][]float32, s *image.YCbCr, y int) {
	x0 := s.Rect.Min.X
	luma := s.Y[s.YOffset(x0, y):]
	for x := range row[0] {
		i := s.COffset(x0+x, y)
		r, g, b := chroma.JFIFToRGB(luma[x], s.Cb[i], s.Cr[i])
		row[0][x] = samples.Unit8[r]
		if row[1] != nil {
			row[1][x], row[2][x] = samples.Unit8[g], samples.Unit8[b]
		}
	}
}

// fillCMYK takes the light that neither an ink nor black absorbs.
func fillCMYK(row *[3][]float32, p []byte) {
	for c := range row {
		for x := range row[c] {
			row[c][x] = samples.Unit8[255-p[4*x+c]] * samples.Unit8[255-p[4*x+3]]
		}
	}
}

func fillPaletted(row *[3][]float32, alpha []uint16, p []byte, palette color.Palette) {
	var table [256]color.NRGBA
	for i, c := range palette {
		if i == len(table) {
			break
		}
		table[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	for x := range row[0] {
		c := table[p[x]]
		row[0][x] = samples.Unit8[c.R]
		if row[1] != nil {
			row[1][x], row[2][x] = samples.Unit8[c.G], samples.Unit8[c.B]
		}
		if alpha != nil {
			alpha[x] = uint16(c.A) * 257
		}
	}
}

// fillAny takes the way through color.Color, for image types of other packages.
func fillAny(row *[3][]float32, alpha []uint16, src image.Image, y int) {
	x0 := src.Bounds().Min.X
	for x := range row[0] {
		c := color.NRGBA64Model.Convert(src.At(x0+x, y)).(color.NRGBA64)
		row[0][x] = samples.Unit16(c.R)
		if row[1] != nil {
			row[1][x], row[2][x] = samples.Unit16(c.G), samples.Unit16(c.B)
		}
		if alpha != nil {
			alpha[x] = c.A
		}
	}
}

// FillSmooth converts a decoded image of luma and chroma, row by row.
func (m *Image) FillSmooth(s *image.YCbCr, convert func(luma, cb, cr byte) (r, g, b byte)) {
	u := chroma.NewRows(s)
	for y := range m.Height {
		luma := s.Y[s.YOffset(s.Rect.Min.X, s.Rect.Min.Y+y):]
		cb, cr := u.Row(y)
		red, green, blue := m.Plane(0)[y*m.Width:], m.Plane(1)[y*m.Width:], m.Plane(2)[y*m.Width:]
		for x := range cb {
			r, g, b := convert(luma[x], cb[x], cr[x])
			red[x], green[x], blue[x] = samples.Unit8[r], samples.Unit8[g], samples.Unit8[b]
		}
	}
}
