package imagefile

import (
	"errors"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/imagefile/tiff"
)

// Errors that callers may look for with errors.Is. The messages around them say
// what is wrong and what would be right.
var (
	// ErrUnknownFormat: neither the content nor the name is of a known format.
	ErrUnknownFormat = errors.New("unknown image format")
	// ErrMalformed: the file breaks the rules of its format, or is cut off.
	ErrMalformed = format.ErrMalformed
	// ErrUnsupported: a valid feature that this package does not read or write.
	ErrUnsupported = format.ErrUnsupported
	// ErrRaw: a raw photograph (DNG), whose picture is yet to be developed. It is an ErrUnsupported.
	ErrRaw = tiff.ErrRaw
	// ErrTooManyPixels: the header announces more pixels than allowed.
	ErrTooManyPixels = source.ErrTooManyPixels
	// ErrAlpha: the format to be written has no place for transparency.
	ErrAlpha = errors.New("transparency cannot be stored")
	// ErrNotFinite: a sample is infinite or not a number.
	ErrNotFinite = picture.ErrNotFinite
	// ErrInvalidImage: an Image whose fields contradict each other.
	ErrInvalidImage = picture.ErrInvalid
)
