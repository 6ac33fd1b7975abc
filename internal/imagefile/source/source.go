// Package source is the bytes of an image file, or of a stream that is read as far as is asked for, and the limits on
// what they may claim.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/averaged/imaging/internal/imagefile/format"
)

// DefaultMaxPixels is the limit that a limit of 0 stands for: 2²⁸ pixels, 268 megapixels.
const DefaultMaxPixels = 1 << 28

// Addressable is the number of pixels whose three float32 planes and alpha can be addressed, whatever the limit is.
const Addressable = math.MaxInt / 16

// ErrTooManyPixels: the header announces more pixels than allowed.
var ErrTooManyPixels = errors.New("too many pixels")

// Limits on what a file may claim, apart from its pixels.
const (
	// A photograph takes a byte for a few pixels, and a uniform area in JPEG one
	// for at most 100. A file with fewer unpacks to much from nearly nothing:
	// plausiblePixels are accepted of it, unless a limit is given.
	plausiblePixels  = 50_000_000
	plausiblePacking = 128
)

// Source is the bytes of a file, whose size is known, or of a stream, of which as
// much is read as is asked for.
type Source struct {
	disk      *Recorder
	size      int64   // of a file
	stream    *stream // or nil
	maxPixels int64
}

// File returns the first size bytes of r, of which an image may have so many pixels: DefaultMaxPixels, or 50 million for a
// file of less than a byte for 128 pixels, if that is 0, and any number if it is negative. Reading fails with the context's
// error when ctx is done.
func File(ctx context.Context, r io.ReaderAt, size, maxPixels int64) *Source {
	return &Source{disk: &Recorder{ReaderAt: during{ctx, r}}, size: max(size, 0), maxPixels: maxPixels}
}

// Stream returns what r has, with the limit of File. It stops waiting for r, with the context's error, when ctx is done. A
// Read of r may then still be under way.
func Stream(ctx context.Context, r io.Reader, maxPixels int64) *Source {
	s := &stream{r: &interruptibleReader{ctx: ctx, r: r}, limit: maxBeforeSize}
	return &Source{disk: &Recorder{ReaderAt: during{ctx, s}}, stream: s, maxPixels: maxPixels}
}

// IsStream tells whether the size is not known.
func (s *Source) IsStream() bool { return s.stream != nil }

// ReadAt reads from the file or stream.
func (s *Source) ReadAt(p []byte, off int64) (int, error) { return s.disk.ReadAt(p, off) }

// Has tells whether there are n bytes from the beginning. It reads a stream
// up to there.
func (s *Source) Has(n int64) bool {
	if s.stream != nil {
		return s.stream.fill(n) == nil
	}
	return n <= s.size
}

// Available is the size of a file, and of a stream what has been read.
func (s *Source) Available() int64 {
	if s.stream != nil {
		return s.stream.n
	}
	return s.size
}

// From returns a reader of the bytes from offset on, of its own.
func (s *Source) From(offset int64) *io.SectionReader {
	end := s.size
	if s.stream != nil {
		end = math.MaxInt64
	}
	return io.NewSectionReader(s, offset, max(end-offset, 0))
}

// Bytes returns n bytes at an offset. It fails, before it allocates, if they are
// not all there.
func (s *Source) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > math.MaxInt64-n || !s.Has(offset+n) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if _, err := s.ReadAt(b, offset); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// Start returns the first n bytes, or as many as there are.
func (s *Source) Start(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := s.From(0).ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:got], err
}

// CheckSize is called with the size in a file's header, before any pixel is
// decoded.
func (s *Source) CheckSize(f format.Format, width, height int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("%w: the %s header says %d×%d pixels, at least 1×1 is needed", format.ErrMalformed, f, width, height)
	}
	limit := int64(Addressable)
	switch {
	case s.maxPixels == 0:
		limit = min(limit, DefaultMaxPixels)
	case s.maxPixels > 0:
		limit = min(limit, s.maxPixels)
	}
	if int64(height) > limit/int64(width) {
		return fmt.Errorf("%w: the %s header says %d×%d, which is more than the limit of %d pixels", ErrTooManyPixels, f, width, height, limit)
	}
	pixels := int64(width) * int64(height)
	if s.stream != nil {
		s.stream.allow(min(pixels, 1<<50)*maxBytesPerPixel + maxBeforeSize)
	}
	if s.maxPixels == 0 && pixels > plausiblePixels && !s.Has(pixels/plausiblePacking) {
		return fmt.Errorf("%w: the %s header says %d×%d, and the file is too small to hold a picture of that size (a decompression bomb?)",
			ErrTooManyPixels, f, width, height)
	}
	return nil
}

// AllowLateSize lets more of a stream stand before the size of its image: pixels, in TIFF.
func (s *Source) AllowLateSize() {
	if s.stream != nil {
		s.stream.limit = maxBeforeSizeTIFF
	}
}

// Cause returns, in place of what decoding returned, why the file or stream could not be read, if it could not.
func (s *Source) Cause(err error) error {
	switch {
	case s.disk.Err != nil:
		return s.disk.Err
	case err != nil && s.stream != nil && s.stream.err != nil && s.stream.err != io.EOF:
		return s.stream.err
	}
	return err
}

// Drain reads what follows an image in a stream and does not keep it, so that whoever writes
// it is not cut off; but not for ever.
func (s *Source) Drain() error {
	if s.stream == nil {
		return nil
	}
	return s.stream.drain()
}

// during reads as long as a context lasts. Decoders know no context, and a file of a few megabytes can keep them for
// minutes.
type during struct {
	context.Context
	io.ReaderAt
}

func (d during) ReadAt(p []byte, off int64) (int, error) {
	if err := d.Err(); err != nil {
		return 0, err
	}
	return d.ReaderAt.ReadAt(p, off)
}

// Recorder keeps the first error of a reader, so that a disk that fails is not
// taken for a file that is broken.
type Recorder struct {
	io.ReaderAt
	Err error
}

// ReadAt reads from the reader.
func (d *Recorder) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, off)
	if err != nil && err != io.EOF && d.Err == nil {
		d.Err = err
	}
	return n, err
}
