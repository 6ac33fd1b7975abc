package imagefile

import (
	"bytes"
	"context"
	"image/jpeg"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

func encode(t testing.TB, m *Image, opt WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Encode(t.Context(), &b, m, opt))
	return b.Bytes()
}

func decode(t testing.TB, data []byte) *Image {
	t.Helper()
	m, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{})
	require.NoError(t, err)
	require.NoError(t, m.Validate())
	return m
}

// readEXIF is EXIF with its first directory and that of the photograph.
type readEXIF struct {
	tiffdir.Tree
	main, photo []tiffdir.Field
	next        int64
}

func openEXIF(t *testing.T, data []byte) readEXIF {
	t.Helper()
	tree, first, err := tiffdir.Open(tiffdir.Memory(data))
	require.NoError(t, err)
	e := readEXIF{Tree: tree}
	e.main, e.next, err = tree.Directory(first)
	require.NoError(t, err)
	if photo, err := tree.Uint(e.main, tiffdir.TagEXIF, 0); err == nil && photo != 0 {
		e.photo, _, _ = tree.Directory(int64(photo)) // none if it is broken
	}
	return e
}

func TestFromImageOfDecodedJPEG(t *testing.T) {
	data := imagetest.File(t, "gray.jpg")
	img, err := jpeg.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	m, err := picture.FromImage(img)
	require.NoError(t, err)
	require.Equal(t, decode(t, data).Pix, m.Pix)
}
