package format

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors that callers may look for with errors.Is. The messages around them say
// what is wrong and what would be right.
var (
	// ErrMalformed: the file breaks the rules of its format, or is cut off.
	ErrMalformed = errors.New("malformed image file")
	// ErrUnsupported: a valid feature that is not read or written.
	ErrUnsupported = errors.New("unsupported image feature")
)

// Malformed returns an error that wraps ErrMalformed and names the format.
func Malformed(f Format, text string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrMalformed, f, fmt.Sprintf(text, args...))
}

// Truncated returns the error for a file that ends early.
func Truncated(f Format) error {
	return fmt.Errorf("%w: the %s data ends early (a truncated file?)", ErrMalformed, f)
}

// Foreign wraps the error of another package's decoder, whose text begins
// with the name of that package.
func Foreign(f Format, err error) error {
	if errors.Is(err, ErrMalformed) || errors.Is(err, ErrUnsupported) {
		return err // it was found here
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return Truncated(f)
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "short Huffman data"), strings.Contains(text, "short chunk"), strings.Contains(text, "short chunk header"),
		strings.HasSuffix(text, io.ErrUnexpectedEOF.Error()), strings.HasSuffix(text, ": EOF"), text == "gif: not enough image data":
		return Truncated(f)
	case !strings.Contains(strings.ToLower(text), strings.ToLower(f.String())):
		text = f.String() + ": " + text
	}
	return fmt.Errorf("%w: %s", ErrMalformed, text)
}
