package imagefile

import (
	"errors"
	"fmt"
)

// Errors that callers may look for with errors.Is. The messages around them say
// what is wrong and what would be right.
var (
	// ErrUnknownFormat: neither the content nor the name is of a known format.
	ErrUnknownFormat = errors.New("unknown image format")
	// ErrMalformed: the file breaks the rules of its format, or is cut off.
	ErrMalformed = errors.New("malformed image file")
	// ErrUnsupported: a valid feature that this package does not read or write.
	ErrUnsupported = errors.New("unsupported image feature")
	// ErrRaw: a raw photograph (DNG), whose picture is yet to be developed. It is an ErrUnsupported.
	ErrRaw = fmt.Errorf("%w: it is a raw photograph (DNG), of which a picture is yet to be developed", ErrUnsupported)
	// errMakersRaw is about a raw photograph that is no DNG.
	errMakersRaw = fmt.Errorf("%w: it is a raw photograph in a format of the camera's maker; convert it to DNG, or develop it to a TIFF or PNG", ErrUnsupported)
	// ErrTooManyPixels: the header announces more pixels than allowed.
	ErrTooManyPixels = errors.New("too many pixels")
	// ErrAlpha: the format to be written has no place for transparency.
	ErrAlpha = errors.New("transparency cannot be stored")
	// ErrNotFinite: a sample is infinite or not a number.
	ErrNotFinite = errors.New("sample is not finite")
	// ErrInvalidImage: an Image whose fields contradict each other.
	ErrInvalidImage = errors.New("invalid image")
)
