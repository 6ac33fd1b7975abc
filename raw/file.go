package raw

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/development"
	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/source"
)

// The errors that the errors of Read and Write wrap.
var (
	// ErrMalformed: the file breaks the rules of its format, or is cut off.
	ErrMalformed = format.ErrMalformed
	// ErrUnsupported: a kind of DNG that this package does not read.
	ErrUnsupported = format.ErrUnsupported
	// ErrTooManyPixels: the file announces more pixels than are allowed.
	ErrTooManyPixels = source.ErrTooManyPixels
)

// Options say how to read. The zero value is useful.
type Options struct {
	// MaxPixels is the largest width × height that is accepted; 0 means 2²⁸, and a negative number no limit.
	MaxPixels int64
}

// File is a DNG file that Read has read. It may be used by several goroutines. The zero value is none: its Image is nil.
type File struct{ raw *dng.Raw }

// Is tells whether the first size bytes of r are a DNG file.
func Is(r io.ReaderAt, size int64) bool { return r != nil && dng.Is(r, size) }

// Read reads the first size bytes of r; Write reads them again. It takes at most 50 times as much memory as
// the file has bytes, whatever the file says. Its errors wrap ErrMalformed, ErrUnsupported or
// ErrTooManyPixels, or are those of r.
func Read(r io.ReaderAt, size int64, opt Options) (*File, error) {
	if r == nil {
		return nil, errors.New("raw: the reader is nil")
	}
	m, err := dng.Read(r, size, dng.Options{MaxPixels: opt.MaxPixels})
	if err != nil {
		return nil, err
	}
	return &File{m}, nil
}

// Version returns the version of the DNG specification that the file follows, such as 1.4.
func (f *File) Version() string { return fmt.Sprintf("%d.%d", f.raw.Version[0], f.raw.Version[1]) }

// Bits returns the number of bits of a sample in the file, 8 to 16.
func (f *File) Bits() int { return f.raw.Bits }

// Image returns the light of the active area, without masked pixels and margins.
func (f *File) Image() *Image {
	if f.raw == nil {
		return nil
	}
	m, a := f.raw, f.raw.Active
	img := &Image{
		Width: a.Dx(), Height: a.Dy(), Mosaic: m.Mosaic, Samples: m.Samples,
		Pix: make([]float32, a.Dx()*a.Dy()*m.Samples), Low: float32(math.Inf(-1)),
	}
	for y := range 2 {
		for x := range 2 {
			img.Pattern[y][x] = Colour(m.Colour(a.Min.X+x, a.Min.Y+y))
		}
	}
	for s := range m.Samples {
		img.Step = max(img.Step, float32(1/m.Levels.Span[s]))
	}
	i := 0
	for y := a.Min.Y; y < a.Max.Y; y++ {
		for x := a.Min.X; x < a.Max.X; x++ {
			for s := range m.Samples {
				img.Pix[i] = f.light(x, y, s)
				if y < a.Min.Y+2 && x < a.Min.X+2 {
					img.Low = max(img.Low, float32((m.Levels.Linear(0)-m.Black(x, y, s))/m.Levels.Span[s]))
				}
				i++
			}
		}
	}
	for _, n := range m.Noise {
		img.Noise = append(img.Noise, Noise{n[0], n[1]})
	}
	return img
}

// light is that of a pixel of the file.
func (f *File) light(x, y, sample int) float32 {
	m := f.raw
	v := m.Pix[(y*m.Width+x)*m.Samples+sample]
	return float32((m.Levels.Linear(v) - m.Black(x, y, sample)) / m.Levels.Span[sample])
}

// Write writes the file with another image of the same size and kind as Image. A pixel with the light of the
// file keeps its number; other light is rounded to the nearest number and clipped to the range of the file.
// Pixels outside of the active area keep theirs.
//
// Its errors wrap ErrMalformed or ErrUnsupported if the file cannot take another image, say that the image is
// not of this file, or are those of the file or w.
func (f *File) Write(w io.Writer, img *Image) error {
	if err := img.Check(); err != nil {
		return err
	}
	if f.raw == nil {
		return errors.New("raw: the file was not read")
	}
	m, a := f.raw, f.raw.Active
	if img.Width != a.Dx() || img.Height != a.Dy() || img.Samples != m.Samples || img.Mosaic != m.Mosaic {
		return fmt.Errorf("raw: an image of %d×%d pixels of %d samples for a file of %d×%d of %d", img.Width, img.Height, img.Samples, a.Dx(), a.Dy(), m.Samples)
	}
	pix := slices.Clone(m.Pix)
	i := 0
	for y := a.Min.Y; y < a.Max.Y; y++ {
		for x := a.Min.X; x < a.Max.X; x++ {
			for s := range m.Samples {
				if v := img.Pix[i]; v != f.light(x, y, s) {
					pix[(y*m.Width+x)*m.Samples+s] = m.Levels.Stored(float64(v)*m.Levels.Span[s]+m.Black(x, y, s), m.Top)
				}
				i++
			}
		}
	}
	return m.Write(w, pix)
}

// Develop makes a picture of an image of this file for viewing. It applies the file's white balance and
// colour matrix, demosaicking (Malvar, He and Cutler 2004), and the tone curve of sRGB. It returns the planes
// of red, green and blue, or one grey plane, each of the image's size, from 0 to 1. They are not turned by
// Orientation. It is plain on purpose: no lens correction, no opcodes, no tone curve of a maker.
func (f *File) Develop(img *Image) (planes []float32, channels int, err error) {
	if err := img.Check(); err != nil {
		return nil, 0, err
	}
	c := development.Camera{Neutral: f.raw.Neutral, Exposure: f.raw.Exposure, Matrix: f.raw.Matrix}
	switch p := img.Pattern; {
	case img.Mosaic:
		pattern := demosaic.Pattern{uint8(p[0][0]), uint8(p[0][1]), uint8(p[1][0]), uint8(p[1][1])}
		return c.Mosaic(img.Pix, img.Height, img.Width, pattern), 3, nil
	case img.Samples == 3:
		return c.Colours(img.Pix), 3, nil
	}
	return development.Grey(img.Pix, img.Samples), 1, nil // no colours are known
}

// Orientation is that of EXIF, 1 to 8: how to turn the image for viewing.
func (f *File) Orientation() int { return f.raw.Orientation }
