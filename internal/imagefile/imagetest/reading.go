package imagetest

import (
	"bytes"
	"context"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/stretchr/testify/require"
)

// Reading returns what tests read files of a format with: read decodes any file, whole one that has to be readable.
func Reading(decode func(*source.Source) (*picture.Image, error)) (read func(data []byte) (*picture.Image, error), whole func(t testing.TB, data []byte) *picture.Image) {
	read = func(data []byte) (*picture.Image, error) {
		return decode(source.File(context.Background(), bytes.NewReader(data), int64(len(data)), 0))
	}
	whole = func(t testing.TB, data []byte) *picture.Image {
		t.Helper()
		m, err := read(data)
		require.NoError(t, err)
		require.NoError(t, m.Validate())
		return m
	}
	return read, whole
}
