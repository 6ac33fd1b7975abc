package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/averaged/imaging/internal/atomicfile"
)

// isLocal tells whether a name is of a file of this machine, and not of one of Beam's other file
// systems, such as gs://bucket/name.
func isLocal(name string) bool { return !strings.Contains(name, "://") }

// fileSystems are those in use, by scheme. A client of a store takes long to make and serves many
// goroutines, so it is kept as long as the process lives.
var fileSystems = struct {
	mu   sync.Mutex
	open map[string]filesystem.Interface
}{open: map[string]filesystem.Interface{}}

// fileSystemOf returns the file system that a name is of.
func fileSystemOf(ctx context.Context, name string) (filesystem.Interface, error) {
	scheme := ""
	if !isLocal(name) {
		scheme, _, _ = strings.Cut(name, "://")
	}
	fileSystems.mu.Lock()
	defer fileSystems.mu.Unlock()
	if fs := fileSystems.open[scheme]; fs != nil {
		return fs, nil
	}
	fs, err := filesystem.New(context.WithoutCancel(ctx), name)
	if err != nil {
		return nil, err
	}
	fileSystems.open[scheme] = fs
	return fs, nil
}

// checkScheme returns an error if no file system is registered that a name would be of.
func checkScheme(name string) (err error) {
	defer func() {
		if p := recover(); p != nil { // which is how Beam tells
			err = fmt.Errorf("%s: there is no such file system; there are local files, gs:// and s3://", name)
		}
	}()
	filesystem.ValidateScheme(name)
	return nil
}

// isFile tells whether there is a file of that name on this machine, be it a folder.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// join puts a relative name, with slashes, behind a folder.
func join(folder, relative string) string {
	if isLocal(folder) {
		return filepath.Join(folder, filepath.FromSlash(relative))
	}
	return strings.TrimSuffix(folder, "/") + "/" + relative
}

// identity is the same for the usual ways to write a file's name.
func identity(name string) string {
	if !isLocal(name) {
		return name
	}
	name = filepath.Clean(name)
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		name = strings.ToLower(name)
	}
	return name
}

// relativeTo is the name of a file below a folder, with slashes; its last element if it is not there.
func relativeTo(folder, name string) string {
	if isLocal(name) {
		folder, name = filepath.ToSlash(filepath.Clean(folder)), filepath.ToSlash(filepath.Clean(name))
		if folder == "." && !path.IsAbs(name) && !strings.HasPrefix(name, "../") {
			return name
		}
	}
	if below, found := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); found && below != "" {
		return below
	}
	return path.Base(name)
}

// base is the last element of a name.
func base(name string) string {
	if isLocal(name) {
		name = filepath.ToSlash(name)
	}
	return path.Base(name)
}

// globFolder is the folder before the first element of a pattern that has a wildcard.
func globFolder(pattern string) string {
	if isLocal(pattern) {
		pattern = filepath.ToSlash(pattern)
	}
	if i := strings.IndexAny(pattern, `*?[`); i >= 0 {
		pattern = pattern[:i]
	}
	i := strings.LastIndex(pattern, "/")
	switch {
	case i < 0:
		return "."
	case i == 0:
		return "/"
	}
	return pattern[:i]
}

// readWhole reads a file of at most so many bytes; of one that has more the error is errShare.
func readWhole(ctx context.Context, name string, most int64) ([]byte, error) {
	fs, err := fileSystemOf(ctx, name)
	if err != nil {
		return nil, err
	}
	if isLocal(name) {
		// A pipe or a device may keep its reader waiting for ever.
		switch info, err := os.Stat(name); {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, errors.New("it is no regular file")
		}
	}
	r, err := fs.OpenRead(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close() // nothing was written, so closing cannot lose anything
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > most:
		return nil, errShare
	}
	return data, nil
}

// checksumOf is the checksum of a file. File systems differ in how they say that there is none, so
// that whatever keeps a file from being opened counts as that.
func checksumOf(ctx context.Context, name string) (sum string, exists bool, err error) {
	fs, err := fileSystemOf(ctx, name)
	if err != nil {
		return "", false, err
	}
	r, err := fs.OpenRead(ctx, name)
	if err != nil {
		return "", false, ctx.Err()
	}
	defer r.Close() // as above
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", true, err
	}
	return hex.EncodeToString(h.Sum(nil)), true, nil
}

// writeWhole writes a file that appears whole or not at all. Without overwrite a file of this machine
// that is there stays; of others it must have been asked before.
func writeWhole(ctx context.Context, name string, overwrite bool, write func(io.Writer) error) error {
	if isLocal(name) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		return atomicfile.Write(ctx, name, overwrite, write)
	}
	fs, err := fileSystemOf(ctx, name)
	if err != nil {
		return err
	}
	w, err := fs.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	// Closing is what makes the object appear: after an error it must not.
	if err := write(w); err != nil {
		return err
	}
	return w.Close()
}
