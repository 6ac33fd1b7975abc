// Package dng reads the raw image of a DNG file (Adobe Digital Negative 1.1 to 1.6), and writes the
// file again with another raw image in it.
//
// What it reads: mosaics of the Bayer pattern in any of its four phases and LinearRaw of one to four
// samples, in strips or tiles, uncompressed with 8 to 16 bits or lossless JPEG; linearisation table,
// black and white levels, active and masked areas, noise profile and orientation. Everything else of
// a file it copies.
//
// What it writes: every byte stands where it stood, except for the strips or tiles of the raw image,
// their offsets and lengths, and its digests, which become zero, "not known" (the file's other
// contents, maker notes above all, have offsets that nobody else can move). Strips and tiles take
// the room of the old ones as far as it goes, and the end of the file beyond that. The raw image
// keeps its depth, its layout and its compression. A raw image that is the same gives the same file.
package dng

import (
	"errors"
	"fmt"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/losslessjpeg"
)

func malformed(text string, args ...any) error {
	return fmt.Errorf("%w: DNG: %s", format.ErrMalformed, fmt.Sprintf(text, args...))
}

func unsupported(text string, args ...any) error {
	return fmt.Errorf("%w: DNG with %s", format.ErrUnsupported, fmt.Sprintf(text, args...))
}

func invalid(text string, args ...any) error {
	return fmt.Errorf("%w: DNG: %s", picture.ErrInvalid, fmt.Sprintf(text, args...))
}

// jpegError returns the error of a strip or tile.
func jpegError(err error) error {
	switch {
	case errors.Is(err, losslessjpeg.ErrLossy):
		return unsupported("lossy JPEG (lossless JPEG and uncompressed are read)")
	case errors.Is(err, losslessjpeg.ErrUnsupported):
		return fmt.Errorf("%w: DNG: %w", format.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: DNG: %w", format.ErrMalformed, err)
}
