package weights

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// counted counts how often files are opened that are not folders, and fails to open one.
type counted struct {
	fstest.MapFS
	opened *int
}

func (c counted) Open(name string) (fs.File, error) {
	if name != "." {
		*c.opened++
	}
	if name == "broken.safetensors" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.MapFS.Open(name)
}

// ReadFile goes by Open, and so counts.
func (c counted) ReadFile(name string) ([]byte, error) {
	if _, err := c.Open(name); err != nil {
		return nil, err
	}
	return c.MapFS.ReadFile(name)
}

// A file is read when it is asked for, once, and the reason is said where it cannot be.
func TestFilesAreReadWhenAskedFor(t *testing.T) {
	opened := 0
	files, err := weightsIn(counted{fstest.MapFS{
		"a.safetensors": {Data: []byte("some weights")}, "broken.safetensors": {}, "README.md": {},
	}, &opened})
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Zero(t, opened)
	require.EqualValues(t, 12, files["a"].size)
	for range 3 {
		b, err := files["a"].read()
		require.NoError(t, err)
		require.Equal(t, "some weights", string(b))
	}
	require.Equal(t, 1, opened)
	_, err = files["broken"].read()
	require.ErrorIs(t, err, fs.ErrPermission)
}

// A program that imports no weights is told what to import.
func TestOpenWithoutWeights(t *testing.T) {
	files := registered.files
	registered.files = nil
	defer func() { registered.files = files }()
	_, err := Open(Fast)
	require.EqualError(t, err, `weights: this build has no weights "fast", import weights/open for some`)
}
