package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/train"
)

// checkRunFolder refuses a folder that holds a run, as train.Create does, but before all
// images are read, and one that holds other files of the names that a run writes.
func checkRunFolder(folder string) error {
	if err := checkFolder(folder); err != nil {
		return err
	}
	if exists(filepath.Join(folder, train.ConfigFile)) {
		return usagef("%s holds a run already; --resume continues it, or take another folder", message.OneLine(folder))
	}
	for _, file := range []string{commandFile, curvesFile, train.WeightsFile} {
		if path := filepath.Join(folder, file); exists(path) {
			return usagef("%s exists already; take another folder", message.OneLine(path))
		}
	}
	return nil
}

// checkFolder refuses a file in place of a folder that is to be made.
func checkFolder(folder string) error {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return usagef("-o %s: is a file; a run needs a folder", message.OneLine(folder))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// runError is about a file that a run must have.
func runError(run, file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a file stands where the folder should be
		return fileError{run, fmt.Errorf("holds no run, for there is no %s in it; leave --resume out to begin one", file)}
	}
	return fileError{filepath.Join(run, file), err}
}

// writeFile writes a file of a run, in place of an earlier one, in one step. It does not
// end with an interrupt: what it writes is small, and what a run has done is to be kept.
func writeFile(path string, content []byte) error {
	return atomicfile.WriteBytes(context.Background(), path, true, content)
}
