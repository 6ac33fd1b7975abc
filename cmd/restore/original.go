package main

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/imagefile"
)

// original is where the bytes of an input are found once more, for a result that is the same picture.
type original struct {
	path  string      // of a regular file
	state os.FileInfo // when it was read
	bytes []byte      // of standard input, nil if they were not kept
}

// readOriginal is read without the notes, and keeps where the bytes are. Those of standard input are kept if they take
// up to a byte for each pixel, as most JPEG files do: the computation takes some fifty times that.
func (a *app) readOriginal(ctx context.Context, path string, r reading) (*imagefile.Image, *original, error) {
	o := &original{path: path}
	if path != message.StandardStream {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			o.state = info
		} // else reading says what is wrong
		m, err := a.readFrom(ctx, a.stdin, path, r)
		return m, o, err
	}
	k := &keeper{r: a.stdin}
	m, err := a.readFrom(ctx, k, path, r)
	if err == nil && k.ended && len(k.bytes) <= m.Width*m.Height {
		o.bytes = k.bytes
	}
	return m, o, err
}

// keeper keeps what it reads, as long as that is little.
type keeper struct {
	r     io.Reader
	bytes []byte
	full  bool
	ended bool // bytes are all there was
}

func (k *keeper) Read(p []byte) (int, error) {
	const most = 32 << 20
	n, err := k.r.Read(p)
	if k.full = k.full || len(k.bytes)+n > most; k.full {
		k.bytes = nil
	} else {
		k.bytes = append(k.bytes, p[:n]...)
	}
	k.ended = err == io.EOF && !k.full
	return n, err
}

// open returns the bytes, or nil if they are not there any more.
func (o *original) open() io.ReadCloser {
	switch {
	case o.bytes != nil:
		return io.NopCloser(bytes.NewReader(o.bytes))
	case o.state == nil:
		return nil
	}
	f, err := os.Open(o.path)
	if err != nil {
		return nil // it has been removed
	}
	info, err := f.Stat()
	if err != nil || info.Size() != o.state.Size() || !info.ModTime().Equal(o.state.ModTime()) || !os.SameFile(info, o.state) {
		f.Close() // nothing was written
		return nil
	}
	return f
}

// writeUnchanged writes a result whose samples are those of its input: a copy of the input where that is what was asked
// for, else the image anew, and says why, as in "with quality 60".
func (a *app) writeUnchanged(ctx context.Context, path string, m *imagefile.Image, opt imagefile.WriteOptions, o *original) (anew string, err error) {
	if anew = imagefile.Recoding(m, opt); anew == "" {
		if from := o.open(); from != nil {
			defer from.Close() // as above
			return "", a.writeCopy(ctx, path, from, opt.Overwrite)
		}
		anew = "for the bytes of the input are not at hand"
	}
	a.warn(a.Input, m)
	if imagefile.Strippable(m, opt) {
		if from := o.open(); from != nil {
			defer from.Close() // as above
			return anew, a.writeCopy(ctx, path, imagefile.Stripped(from), opt.Overwrite)
		}
	}
	return anew, a.write(ctx, path, m, opt)
}

func (a *app) writeCopy(ctx context.Context, path string, from io.Reader, overwrite bool) (err error) {
	if path == message.StandardStream {
		_, err = io.Copy(a.stdout, from)
	} else if err = makeFolder(path); err == nil {
		err = imagefile.WriteCopy(ctx, path, from, overwrite)
	}
	if err != nil {
		return fileError{message.OutputName(path), err}
	}
	return nil
}
