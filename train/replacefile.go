package train

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// replaceFile makes data the content of the file at path in one step: the bytes go to a
// temporary file in the same folder, are flushed to the disk, and take the name. If
// anything fails, such as for want of space, or the machine stops, the name has what it
// had. What a kill leaves of the temporary file is replaced by the next call.
func replaceFile(path string, data []byte) (err error) {
	temporary := path + ".tmp"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // the first error is the one to tell
			if e := os.Remove(temporary); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder flushes the names of a folder, so that a rename outlives a crash of the
// machine. Windows has no such call for folders.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
