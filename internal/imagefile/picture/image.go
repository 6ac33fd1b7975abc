// Package picture has the image that readers of formats make and writers of formats take.
package picture

import (
	"errors"
	"fmt"
	"image"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/metadata"
)

// Errors that callers may look for with errors.Is.
var (
	// ErrNotFinite: a sample is infinite or not a number.
	ErrNotFinite = errors.New("sample is not finite")
	// ErrInvalid: an Image whose fields contradict each other.
	ErrInvalid = errors.New("invalid image")
)

// Image is a decoded image file: its colour as float32 planes, its alpha, and
// what else the file said.
type Image struct {
	// Width and Height are in pixels, at least 1, after the orientation has been
	// applied.
	Width, Height int
	// Channels is the number of colour channels, 1 (grey) or 3 (red, green,
	// blue). Alpha is not counted.
	Channels int
	// Pix holds Channels planes of Height rows of Width samples. Samples of
	// integer formats are stored value / largest value, so in [0,1]; those of
	// float formats are as stored and may be outside.
	Pix []float32
	// Alpha holds Height rows of Width opacities from 0 to 65535, or is nil where
	// the file has none. An 8-bit opacity a is a·257, so that no depth loses
	// anything (float alpha excepted, which is rounded to 16 bits, with a
	// warning). Colours are not multiplied by it.
	Alpha []uint16
	// Depth is the bits per sample, 8, 16 or 32 (float), with which the image is
	// written unless asked otherwise.
	Depth int
	// SourceDepth is the bits per sample in the file that was read: as Depth, or
	// 1, 2 or 4, or any number up to 16 in PGM and PPM.
	SourceDepth int
	// Format is the format of the file that was read, or 0.
	Format format.Format
	// JPEG is how the samples of a JPEG file were coded, as it is now that its orientation has
	// been applied. It is nil for other formats, and where components are not luma and chroma.
	JPEG *JPEGCoding
	// Damaged is true if the file is, and was read with ReadOptions.Damaged.
	Damaged bool
	// Lost holds the rows, or, after the orientation has been applied, the columns, of a
	// damaged file that could not be read and are grey. It is empty if all were read.
	Lost image.Rectangle
	// Metadata is what the file said about its pixels. The orientation in EXIF is 1,
	// unless ReadOptions.KeepOrientation was set.
	Metadata metadata.Metadata
	// Warnings says, a line each, what reading could not keep.
	Warnings []string

	described [2]int // width and height of which Metadata is true, 0 if that is not known
	turned    bool   // the orientation of the file has been applied
}

// Described returns the width and height of which Metadata is true, and 0 where that is not known.
func (m *Image) Described() [2]int { return m.described }

// Turned tells whether the orientation of the file has been applied to the pixels.
func (m *Image) Turned() bool { return m.turned }

// Plane returns the samples of channel c, Height rows of Width.
func (m *Image) Plane(c int) []float32 {
	n := m.Width * m.Height
	return m.Pix[c*n : (c+1)*n : (c+1)*n]
}

// Opaque tells whether no pixel is even partly transparent.
func (m *Image) Opaque() bool {
	for _, a := range m.Alpha {
		if a != samples.Opaque {
			return false
		}
	}
	return true
}

// Crop keeps h rows from top and w columns from left, in place.
func (m *Image) Crop(h, w, top, left int) {
	if h == m.Height && w == m.Width {
		return
	}
	to := 0
	for c := range m.Channels {
		plane := m.Plane(c)
		for y := top; y < top+h; y++ {
			// The target never lies behind the source: it has less before it.
			to += copy(m.Pix[to:], plane[y*m.Width+left:y*m.Width+left+w])
		}
	}
	m.Pix = m.Pix[:to]
	if m.Alpha != nil {
		to = 0
		for y := top; y < top+h; y++ {
			to += copy(m.Alpha[to:], m.Alpha[y*m.Width+left:y*m.Width+left+w])
		}
		m.Alpha = m.Alpha[:to]
	}
	m.Height, m.Width = h, w
}

// Like returns an image with the size, channels and everything else of m, its
// own zeroed Pix, and Alpha and Metadata shared with m: what a filter needs for
// its output.
func (m *Image) Like() *Image {
	c := *m
	c.Pix = make([]float32, len(m.Pix))
	return &c
}

// largestSample bounds float samples: the squares of larger ones, and sums of
// squares, come near the end of what float32 holds.
const largestSample = 1e12

// CheckMagnitude refuses float samples that cannot be computed with: those beyond ±1e12.
func (m *Image) CheckMagnitude() error {
	if m.Depth != 32 {
		return nil // in [0,1]
	}
	for _, v := range m.Pix {
		if v > largestSample || v < -largestSample {
			return fmt.Errorf("has a sample of %.3g, beyond ±%.0g; scale it so that white is about 1", v, float64(largestSample))
		}
	}
	return nil
}

// CheckFinite returns an error that names the first sample that is infinite or not a
// number, and wraps ErrNotFinite.
func (m *Image) CheckFinite() error {
	for i, v := range m.Pix {
		if v-v != 0 {
			n := m.Width * m.Height
			return fmt.Errorf("%w: the sample at row %d, column %d, channel %d is %v", ErrNotFinite, i%n/m.Width, i%m.Width, i/n, v)
		}
	}
	return nil
}

// Validate returns an error that wraps ErrInvalid if the fields of m do not
// fit together.
func (m *Image) Validate() error {
	switch {
	case m == nil:
		return fmt.Errorf("%w: there is none", ErrInvalid)
	case m.Width < 1 || m.Height < 1:
		return fmt.Errorf("%w: its size is %d×%d, at least 1×1 is needed", ErrInvalid, m.Width, m.Height)
	case m.Channels != 1 && m.Channels != 3:
		return fmt.Errorf("%w: it has %d colour channels, not 1 or 3", ErrInvalid, m.Channels)
	case m.Width > len(m.Pix)/m.Height || len(m.Pix) != m.Channels*m.Width*m.Height:
		return fmt.Errorf("%w: it has %d samples, not %d×%d×%d", ErrInvalid, len(m.Pix), m.Channels, m.Height, m.Width)
	case m.Alpha != nil && len(m.Alpha) != m.Width*m.Height:
		return fmt.Errorf("%w: it has %d alpha samples, not %d×%d", ErrInvalid, len(m.Alpha), m.Height, m.Width)
	}
	return nil
}

// New returns a black image, with alpha if asked.
func New(width, height, channels, depth int, alpha bool) *Image {
	m := &Image{
		Width: width, Height: height, Channels: channels,
		Pix:   make([]float32, channels*width*height),
		Depth: depth, SourceDepth: depth,
	}
	if alpha {
		m.Alpha = make([]uint16, width*height)
	}
	return m
}
