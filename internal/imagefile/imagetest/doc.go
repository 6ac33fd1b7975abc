// Package imagetest has images, metadata and files made by hand for tests of imagefile and of the packages below it.
package imagetest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// File returns a file of the folder testdata of imagefile, above the folder of any package below it.
func File(t testing.TB, name string) []byte {
	t.Helper()
	folder := "testdata"
	for {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if os.IsNotExist(err) && len(folder) < len("../../../testdata") {
			folder = filepath.Join("..", folder)
			continue
		}
		require.NoError(t, err)
		return b
	}
}

// LeaveToPlainRuns skips a test that takes long under the race detector, which runs with -short and has
// nothing to find in what one goroutine reads: TestConcurrentUse and TestInterruptedStream have several.
func LeaveToPlainRuns(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("reading so many files takes long under the race detector, which has nothing to find in one goroutine: go test ./... reads them")
	}
}

// Disk takes a number of bytes and is full then.
type Disk struct{ Room int }

// ErrFull is the error of a full Disk.
var ErrFull = errors.New("no space left on device")

// Write implements io.Writer.
func (d *Disk) Write(p []byte) (int, error) {
	if len(p) > d.Room {
		n := d.Room
		d.Room = 0
		return n, ErrFull
	}
	d.Room -= len(p)
	return len(p), nil
}
