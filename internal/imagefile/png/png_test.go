package png

import (
	"bytes"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/stretchr/testify/require"
)

// read decodes a file, decode one that is whole.
func read(data []byte) (*picture.Image, error) {
	return Decode(source.File(bytes.NewReader(data), int64(len(data)), 0))
}

func decode(t testing.TB, data []byte) *picture.Image {
	t.Helper()
	m, err := read(data)
	require.NoError(t, err)
	require.NoError(t, m.Validate())
	return m
}

// salvage reads what is there of a file that is not whole.
func salvage(t require.TestingT, data []byte) (*picture.Image, error) {
	_, err := read(data)
	require.ErrorIs(t, err, format.ErrMalformed)
	return Salvage(source.File(bytes.NewReader(data), int64(len(data)), 0))
}
