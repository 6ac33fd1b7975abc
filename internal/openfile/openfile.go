// Package openfile opens files without being held up by them.
package openfile

import (
	"context"
	"os"
)

// Open opens an existing file as os.OpenFile does, and returns the context's error
// if that ends first. The system lets an open wait, if the file is a pipe with
// nobody at its other end.
func Open(ctx context.Context, path string, flag int) (*os.File, error) {
	type outcome struct {
		f   *os.File
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		f, err := os.OpenFile(path, flag, 0)
		done <- outcome{f, err}
	}()
	select {
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				o.f.Close() // Nothing was written, so closing cannot lose anything.
			}
		}()
		return nil, ctx.Err()
	case o := <-done:
		return o.f, o.err
	}
}
