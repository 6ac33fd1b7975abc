package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/internal/openfile"
)

// fileKind is a kind of file, other than images, that commands read.
type fileKind struct {
	name    string // with its article
	most    int64  // bytes
	tooLong error
}

// readInput reads a file, or standard input, and ends with ctx even if a pipe keeps a read waiting for ever. Its errors are
// fileErrors.
func readInput[T any](ctx context.Context, a *app, path string, kind *fileKind, read func(io.Reader) (T, error)) (file T, err error) {
	source := a.stdin
	switch {
	case path != message.StandardStream:
		f, err := openfile.Open(ctx, path, os.O_RDONLY)
		if err != nil {
			return file, fileError{path, err}
		}
		defer f.Close() // nothing was written, so closing cannot lose anything
		switch info, err := f.Stat(); {
		case err != nil:
			return file, fileError{path, err}
		case info.IsDir():
			return file, fileError{path, fmt.Errorf("is a folder; give %s", kind.name)}
		case info.Size() > kind.most:
			return file, fileError{path, kind.tooLong}
		}
		source = f
	case terminal.Is(source):
		return file, fileError{path, fmt.Errorf("is a terminal; pipe %s into it, or name one", kind.name)}
	}
	type outcome struct {
		file T
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		f, err := read(&limitedReader{source, kind.most + 1, kind.tooLong})
		done <- outcome{f, err}
	}()
	select {
	case <-ctx.Done():
		return file, ctx.Err()
	case o := <-done:
		if o.err != nil {
			return file, fileError{path, o.err}
		}
		return o.file, nil
	}
}

// limitedReader ends in an error after a number of bytes.
type limitedReader struct {
	r    io.Reader
	left int64
	end  error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, l.end
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
