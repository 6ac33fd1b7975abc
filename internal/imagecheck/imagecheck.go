// Package imagecheck tells whether an image.Image can be read.
package imagecheck

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"reflect"
)

// Read calls read, which reads img, unless check finds an error in img. The bounds and samples of
// image types of other packages are behind methods that nothing can check: if one of them panics, as
// that of a struct around a nil image does, Read returns that as an error.
func Read(img image.Image, read func() error) (err error) {
	standard, err := check(img)
	if err != nil {
		return err
	}
	if !standard {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("a method of the %T panics: %v", img, p)
			}
		}()
	}
	return read()
}

// check returns an error if img is nil, also a nil pointer, or if it is of a type of the standard
// library and reading all pixels of its bounds would panic, because it has too few samples, a stride
// below 0, or a palette without the colours that its pixels name. Empty bounds are no error here.
// standard tells whether img is of such a type.
func check(img image.Image) (standard bool, err error) {
	if img == nil {
		return false, errors.New("it is nil")
	}
	if v := reflect.ValueOf(img); v.Kind() == reflect.Pointer && v.IsNil() {
		return false, fmt.Errorf("it is a nil %T", img)
	}
	switch s := img.(type) {
	case *image.Gray:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 1)
	case *image.Gray16:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 2)
	case *image.Alpha:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 1)
	case *image.Alpha16:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 2)
	case *image.NRGBA:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 4)
	case *image.NRGBA64:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 8)
	case *image.RGBA:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 4)
	case *image.RGBA64:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 8)
	case *image.CMYK:
		return true, checkRows(s.Rect, s.Pix, s.Stride, 4)
	case *image.Paletted:
		if err := checkRows(s.Rect, s.Pix, s.Stride, 1); err != nil || s.Rect.Empty() {
			return true, err
		}
		return true, checkPalette(s)
	case *image.YCbCr:
		return true, checkYCbCr(s)
	case *image.NYCbCrA:
		if err := checkYCbCr(&s.YCbCr); err != nil || s.Rect.Empty() {
			return true, err
		}
		return true, checkPlane("alpha", s.A, s.AStride, s.Rect.Dx(), s.Rect.Dy())
	}
	return false, nil
}

// checkRows checks interleaved samples.
func checkRows(r image.Rectangle, pix []byte, stride, bytesPerPixel int) error {
	if r.Empty() {
		return nil
	}
	if r.Dx() < 1 || r.Dx() > math.MaxInt/bytesPerPixel {
		return fmt.Errorf("its bounds %v are wider than an int can count", r)
	}
	return checkPlane("image", pix, stride, r.Dx()*bytesPerPixel, r.Dy())
}

// checkPlane returns an error unless rows of width bytes that begin stride bytes apart lie within a
// plane. width and rows are 1 or more.
func checkPlane(name string, plane []byte, stride, width, rows int) error {
	last := 0 // where the last row begins
	if rows > 1 {
		if stride < 0 || stride > len(plane)/(rows-1) {
			return fmt.Errorf("its %s of %d rows has a stride of %d and %d bytes", name, rows, stride, len(plane))
		}
		last = (rows - 1) * stride
	}
	if rows < 1 || width < 1 || width > len(plane)-last {
		return fmt.Errorf("its %s of %d rows of %d bytes has a stride of %d and only %d bytes", name, rows, width, stride, len(plane))
	}
	return nil
}

// checkYCbCr checks the three planes, of which the chroma's may have fewer rows and columns.
func checkYCbCr(s *image.YCbCr) error {
	r := s.Rect
	if r.Empty() {
		return nil
	}
	if err := checkPlane("luma", s.Y, s.YStride, r.Dx(), r.Dy()); err != nil {
		return err
	}
	// The luma has been found to fit into memory, and the chroma has no more samples.
	grid := image.YCbCr{CStride: 1, SubsampleRatio: s.SubsampleRatio, Rect: r}
	rows, columns := grid.COffset(r.Min.X, r.Max.Y-1)+1, grid.COffset(r.Max.X-1, r.Min.Y)+1
	if err := checkPlane("Cb", s.Cb, s.CStride, columns, rows); err != nil {
		return err
	}
	return checkPlane("Cr", s.Cr, s.CStride, columns, rows)
}

// checkPalette checks that every pixel has a colour.
func checkPalette(s *image.Paletted) error {
	for y := range s.Rect.Dy() {
		for _, i := range s.Pix[y*s.Stride:][:s.Rect.Dx()] {
			if int(i) >= len(s.Palette) {
				return fmt.Errorf("a pixel names colour %d of a palette of %d", i, len(s.Palette))
			}
			if isNil(s.Palette[i]) {
				return fmt.Errorf("colour %d of its palette is nil", i)
			}
		}
	}
	return nil
}

func isNil(c color.Color) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
