// Package losslessjpeg reads and writes the lossless process of JPEG (ISO/IEC 10918-1, annex H,
// frame type SOF3, Huffman coding), in which raw photographs are stored: each sample is
// predicted from its neighbours, and the difference is coded.
//
// Frames of 2 to 16 bits with one to four components in one interleaved scan, predictors 1 to 7,
// point transforms and restart intervals are read. Frames without a point transform and without
// restart intervals are written, with Huffman tables made for the samples.
package losslessjpeg

import (
	"errors"
	"fmt"
)

// Errors that callers may look for with errors.Is.
var (
	// ErrMalformed: the data breaks the rules of JPEG, or is cut off.
	ErrMalformed = errors.New("malformed lossless JPEG")
	// ErrUnsupported: a kind of JPEG that this package does not read or write.
	ErrUnsupported = errors.New("unsupported JPEG")
	// ErrLossy: JPEG with a cosine transform. It is an ErrUnsupported.
	ErrLossy = fmt.Errorf("%w: it is lossy", ErrUnsupported)
)

// Frame says how samples are coded.
type Frame struct {
	Width, Height int // 1 to 65535, in pixels
	Components    int // samples per pixel, 1 to 4
	Precision     int // bits per sample, 2 to 16
	Predictor     int // 1 to 7 (table H.1)
}

// samples is the number of samples of a frame, below 2³⁴.
func (f Frame) samples() int64 { return int64(f.Width) * int64(f.Height) * int64(f.Components) }

// Predictors of table H.1: a is the sample of the same component on the left, b the one above,
// c the one above a.
func predict(predictor, a, b, c int) int {
	switch predictor {
	case 1:
		return a
	case 2:
		return b
	case 3:
		return c
	case 4:
		return a + b - c
	case 5:
		return a + (b-c)>>1
	case 6:
		return b + (a-c)>>1
	}
	return (a + b) >> 1
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
