package picture

import (
	"errors"
	"fmt"
	"image"
	"image/color"

	"github.com/averaged/imaging/internal/imagecheck"
	"github.com/averaged/imaging/internal/imagefile/source"
)

// FromImage copies any image.Image. Grey types give one channel, all others
// three; 8-bit types give Depth 8, 16-bit types and unknown ones 16. Alpha is
// kept where a pixel is not opaque; premultiplied colours are divided by it. An
// image whose bounds are empty, or hold more than source.DefaultMaxPixels, is an error,
// and so is one whose samples are not all there (imagecheck).
func FromImage(src image.Image) (*Image, error) {
	var m *Image
	err := imagecheck.Read(src, func() (err error) {
		m, err = fromImage(src)
		return err
	})
	if err != nil && !errors.Is(err, source.ErrTooManyPixels) && !errors.Is(err, ErrInvalid) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return m, err
}

func fromImage(src image.Image) (*Image, error) {
	b := src.Bounds()
	if b.Empty() {
		return nil, fmt.Errorf("%w: its bounds %v are empty", ErrInvalid, b)
	}
	// Dx and Dy of the bounds of an image.Uniform fit, but not their product.
	// Those of an image that is wider than an int can count are negative.
	if limit := min(source.DefaultMaxPixels, source.Addressable); b.Dx() < 1 || b.Dy() < 1 || b.Dy() > limit/b.Dx() {
		return nil, fmt.Errorf("%w: the bounds %v hold more than %d", source.ErrTooManyPixels, b, limit)
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
	m := New(b.Dx(), b.Dy(), channels, depth, channels == 3 && !IsOpaque(src))
	m.Fill(src)
	return m, nil
}
