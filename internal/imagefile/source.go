package imagefile

import (
	"io"
	"math"
)

// source is the bytes of a file, whose size is known, or of a stream, of which as
// much is read as is asked for.
type source struct {
	io.ReaderAt
	size   int64   // of a file
	stream *stream // or nil
}

// has tells whether there are n bytes from the beginning. It reads a stream
// up to there.
func (s source) has(n int64) bool {
	if s.stream != nil {
		return s.stream.fill(n) == nil
	}
	return n <= s.size
}

// available is the size of a file, and of a stream what has been read.
func (s source) available() int64 {
	if s.stream != nil {
		return s.stream.n
	}
	return s.size
}

// from returns a reader of the bytes from offset on, of its own.
func (s source) from(offset int64) *io.SectionReader {
	end := s.size
	if s.stream != nil {
		end = math.MaxInt64
	}
	return io.NewSectionReader(s, offset, max(end-offset, 0))
}

// Bytes returns n bytes at an offset. It fails, before it allocates, if they are
// not all there.
func (s source) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > math.MaxInt64-n || !s.has(offset+n) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if _, err := s.ReadAt(b, offset); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// start returns the first n bytes, or as many as there are.
func (s source) start(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := s.from(0).ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:got], err
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
