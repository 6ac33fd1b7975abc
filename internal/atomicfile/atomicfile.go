// Package atomicfile writes files that are there in full or not at all.
package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/internal/openfile"
)

// Write creates the file at path with what the function write sends to its
// argument. The bytes go to a temporary file in the same folder, are flushed to
// the disk, and appear under the name in one step. If anything fails, if ctx is
// done before that step, or if write panics, the temporary file is removed and
// the name is as it was.
//
// Without overwrite an existing file is an error that wraps fs.ErrExist, and a
// file that someone else makes in the meantime is not touched. With overwrite
// its content is replaced and its permissions stay; a symbolic link is followed.
// What is neither a file nor a folder, such as a device or a pipe, is written to
// directly. The folder itself is not flushed: a crash of the machine right after
// Write may forget the new name, but never shows half a file.
func Write(ctx context.Context, path string, overwrite bool, write func(io.Writer) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	existing := false
	var mode fs.FileMode
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("it is a folder; a file name is needed")}
	case !info.Mode().IsRegular():
		return writeDirectly(ctx, path, write)
	case !overwrite:
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	default:
		existing, mode = true, info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}

	temp, err := createTemporary(path)
	if err != nil {
		return err
	}
	// A second Close, or the removal of a file that has been moved away, fails and
	// does not matter; the errors that matter are returned below.
	defer func() {
		temp.Close()
		os.Remove(temp.Name())
	}()
	if err := write(temp); err != nil {
		return err
	}
	if existing {
		if err := temp.Chmod(mode); err != nil {
			return err
		}
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if overwrite {
		return os.Rename(temp.Name(), path)
	}
	return publish(temp.Name(), path)
}

// WriteBytes is Write of bytes that are there.
func WriteBytes(ctx context.Context, path string, overwrite bool, content []byte) error {
	return Write(ctx, path, overwrite, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// writeDirectly writes to a device or a pipe. Opening a pipe waits for a reader,
// and writing for it to read; both end with ctx.
func writeDirectly(ctx context.Context, path string, write func(io.Writer) error) error {
	f, err := openfile.Open(ctx, path, os.O_WRONLY)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { f.Close() }) // A write under way fails then.
	defer stop()
	if err := write(f); err != nil {
		f.Close() // The first error is the one to tell.
		if ctx.Err() != nil {
			return ctx.Err() // why the file was closed
		}
		return err
	}
	if !stop() {
		return ctx.Err()
	}
	return f.Close()
}

// createTemporary makes a new file beside path. Unlike os.CreateTemp it leaves
// the permissions to the user's mask, because the file is going to stay.
func createTemporary(path string) (*os.File, error) {
	const attempts = 100
	for i := 0; ; i++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", shorten(filepath.Base(path)), rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || i == attempts {
			return f, err
		}
	}
}

// shorten keeps the temporary name within the 255 bytes of most file systems.
func shorten(name string) string {
	const longest = 200
	if len(name) > longest {
		return name[:longest]
	}
	return name
}

// publish gives the file temp the name path, which must not be taken. A hard
// link does that in one step. Where the file system has none, the name is first
// taken with an empty file, which is then replaced.
func publish(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return reserve(temp, path)
}

func reserve(temp, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
