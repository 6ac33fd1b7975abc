// Package smallpicture gives the tests of the examples pictures that take a moment only.
package smallpicture

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Size is that of the pictures.
var Size = image.Pt(112, 84)

// Of writes the upper left corner of a picture of the folder testdata into a folder of the test, as
// a PNG of the same name, and returns its path.
func Of(t *testing.T, name string) string {
	t.Helper()
	img := read(t, filepath.Join("../../testdata", name))
	part := img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(image.Rectangle{Max: Size})
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, part))
	require.NoError(t, f.Close())
	return path
}

// SizeOf returns the size of a PNG file, which has to be whole.
func SizeOf(t *testing.T, path string) image.Point {
	t.Helper()
	return read(t, path).Bounds().Size()
}

func read(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	return img
}
