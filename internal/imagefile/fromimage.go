package imagefile

import (
	"errors"
	"fmt"
	"image"
	"image/color"

	"github.com/averaged/imaging/internal/imagecheck"
)

// FromImage copies any image.Image. Grey types give one channel, all others
// three; 8-bit types give Depth 8, 16-bit types and unknown ones 16. Alpha is
// kept where a pixel is not opaque; premultiplied colours are divided by it. An
// image whose bounds are empty, or hold more than DefaultMaxPixels, is an error,
// and so is one whose samples are not all there (imagecheck).
func FromImage(src image.Image) (*Image, error) {
	var m *Image
	err := imagecheck.Read(src, func() (err error) {
		m, err = fromImage(src)
		return err
	})
	if err != nil && !errors.Is(err, ErrTooManyPixels) && !errors.Is(err, ErrInvalidImage) {
		err = fmt.Errorf("%w: %w", ErrInvalidImage, err)
	}
	return m, err
}

func fromImage(src image.Image) (*Image, error) {
	b := src.Bounds()
	if b.Empty() {
		return nil, fmt.Errorf("%w: its bounds %v are empty", ErrInvalidImage, b)
	}
	// Dx and Dy of the bounds of an image.Uniform fit, but not their product.
	// Those of an image that is wider than an int can count are negative.
	if limit := min(DefaultMaxPixels, addressable); b.Dx() < 1 || b.Dy() < 1 || b.Dy() > limit/b.Dx() {
		return nil, fmt.Errorf("%w: the bounds %v hold more than %d", ErrTooManyPixels, b, limit)
	}
	channels, depth := 3, 8
	switch src.ColorModel() {
	case color.GrayModel:
		channels = 1
	case color.Gray16Model:
		channels, depth = 1, 16
	case color.RGBAModel, color.NRGBAModel, color.YCbCrModel, color.NYCbCrAModel, color.CMYKModel:
	default:
		if _, palette := src.(*image.Paletted); !palette {
			depth = 16
		}
	}
	m := newImage(b.Dx(), b.Dy(), channels, depth, channels == 3 && !isOpaque(src))
	m.fill(src)
	return m, nil
}

// isOpaque asks the image, where it knows.
func isOpaque(src image.Image) bool {
	o, ok := src.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// fill copies the samples of src, which has the size of m. Where m has one
// channel but src has colours, they are greys and the red one is taken; where m
// has no alpha, that of src is left out.
func (m *Image) fill(src image.Image) {
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
				widen8(row[c], p, 1)
			}
			fillOpaque(alpha)
		case *image.Gray16:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				widen16(row[c], p, 2)
			}
			fillOpaque(alpha)
		case *image.NRGBA:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				widen8(row[c], p[c:], 4)
			}
			if alpha != nil {
				alpha8(alpha, p[3:], 4)
			}
		case *image.NRGBA64:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			for c := range m.Channels {
				widen16(row[c], p[2*c:], 8)
			}
			if alpha != nil {
				alpha16(alpha, p[6:], 8)
			}
		case *image.RGBA:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			if alpha != nil {
				alpha8(alpha, p[3:], 4)
			}
			for c := range m.Channels {
				widen8(row[c], p[c:], 4)
				unmultiply(row[c], alpha)
			}
		case *image.RGBA64:
			p := s.Pix[s.PixOffset(b.Min.X, sy):]
			if alpha != nil {
				alpha16(alpha, p[6:], 8)
			}
			for c := range m.Channels {
				widen16(row[c], p[2*c:], 8)
				unmultiply(row[c], alpha)
			}
		case *image.YCbCr:
			fillYCbCr(&row, s, sy)
			fillOpaque(alpha)
		case *image.NYCbCrA:
			fillYCbCr(&row, &s.YCbCr, sy)
			if alpha != nil {
				alpha8(alpha, s.A[s.AOffset(b.Min.X, sy):], 1)
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
		alpha[x] = opaque
	}
}

// fillYCbCr converts to the nearest 8-bit colours, with the chroma sample that
// At takes for each pixel.
func fillYCbCr(row *[3][]float32, s *image.YCbCr, y int) {
	x0 := s.Rect.Min.X
	luma := s.Y[s.YOffset(x0, y):]
	for x := range row[0] {
		i := s.COffset(x0+x, y)
		r, g, b := jfifToRGB(luma[x], s.Cb[i], s.Cr[i])
		row[0][x] = unit8[r]
		if row[1] != nil {
			row[1][x], row[2][x] = unit8[g], unit8[b]
		}
	}
}

// fillCMYK takes the light that neither an ink nor black absorbs.
func fillCMYK(row *[3][]float32, p []byte) {
	for c := range row {
		for x := range row[c] {
			row[c][x] = unit8[255-p[4*x+c]] * unit8[255-p[4*x+3]]
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
		row[0][x] = unit8[c.R]
		if row[1] != nil {
			row[1][x], row[2][x] = unit8[c.G], unit8[c.B]
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
		row[0][x] = unit16(c.R)
		if row[1] != nil {
			row[1][x], row[2][x] = unit16(c.G), unit16(c.B)
		}
		if alpha != nil {
			alpha[x] = c.A
		}
	}
}
