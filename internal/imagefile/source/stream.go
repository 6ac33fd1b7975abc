package source

import (
	"context"
	"fmt"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/metadata"
)

// Limits on a stream, which may be endless.
const (
	// maxBytesPerPixel bounds a stream whose size in pixels is known: three
	// float64 samples and an alpha, plus room for padding.
	maxBytesPerPixel = 40
	// maxBeforeSize bounds what stands before the size in pixels: metadata, and
	// in TIFF, whose directory may be behind them, the pixels.
	maxBeforeSize     = metadata.MaxSize + 1<<20
	maxBeforeSizeTIFF = 1 << 30
)

// stream keeps what it has read of r, and reads on as far as it is asked for, up
// to a limit. So a stream is given up as soon as what it begins with is no image.
type stream struct {
	r      io.Reader
	pieces [][]byte // each of streamPiece bytes; no copies are made as they grow
	n      int64    // bytes read
	limit  int64
	err    error // why there is no more: io.EOF, or what went wrong
}

const streamPiece = 1 << 18

// allow sets the limit to n bytes more than what has been read.
func (s *stream) allow(n int64) { s.limit = s.n + n }

// fill reads until there are n bytes. Its error is io.EOF if there are fewer.
func (s *stream) fill(n int64) error {
	for empty := 0; s.n < n; {
		switch {
		case s.err != nil:
			return s.err
		case s.n >= s.limit:
			s.err = fmt.Errorf("%w: the stream is longer than its header allows for, %d MB", format.ErrMalformed, s.limit>>20)
			return s.err
		}
		at := int(s.n % streamPiece)
		if at == 0 && int64(len(s.pieces))*streamPiece == s.n {
			s.pieces = append(s.pieces, make([]byte, streamPiece))
		}
		got, err := s.r.Read(s.pieces[len(s.pieces)-1][at:])
		s.n += int64(got)
		if empty++; got > 0 {
			empty = 0
		}
		const patience = 100
		switch {
		case err != nil:
			s.err = err
		case empty == patience:
			s.err = io.ErrNoProgress
		}
	}
	return nil
}

// ReadAt reads as far as off+len(p).
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	err := s.fill(off + int64(len(p)))
	n := 0
	for n < len(p) && off < s.n {
		piece := s.pieces[off/streamPiece][off%streamPiece:]
		piece = piece[:min(int64(len(piece)), s.n-off)]
		got := copy(p[n:], piece)
		n, off = n+got, off+int64(got)
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// drain reads on, for Drain.
func (s *stream) drain() error {
	if s.err == io.EOF {
		return nil
	}
	_, err := io.CopyN(io.Discard, s.r, metadata.MaxSize)
	if err == io.EOF {
		return nil
	}
	return err
}

// interruptibleReader gives up waiting when its context ends. The read under way
// goes on in its goroutine until the stream delivers or is closed; that cannot
// be helped, and happens once in the life of a process that is about to end.
type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
	own []byte // of the read under way
}

// maxRead bytes are read at once, what a pipe holds.
const maxRead = 64 << 10

func (i *interruptibleReader) Read(p []byte) (int, error) {
	type outcome struct {
		n   int
		err error
	}
	if i.ctx.Done() == nil {
		return i.r.Read(p)
	}
	// p is the caller's again after an interrupt, so the goroutine must not have it.
	if i.own == nil {
		i.own = make([]byte, maxRead)
	}
	own := i.own[:min(len(p), maxRead)]
	done := make(chan outcome, 1)
	go func() {
		n, err := i.r.Read(own)
		done <- outcome{n, err}
	}()
	select {
	case <-i.ctx.Done():
		i.own = nil // the goroutine keeps it
		return 0, i.ctx.Err()
	case o := <-done:
		return copy(p, own[:o.n]), o.err
	}
}
