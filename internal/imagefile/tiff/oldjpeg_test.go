package tiff

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

func TestOldJPEGInTIFF(t *testing.T) {
	now, old := imagetest.OldJPEGInTIFF(t)
	want := decode(t, now)
	require.Greater(t, imagetest.PSNR(imagetest.Smooth(32, 32, 3).Pix, want.Pix), 30.)
	for name, file := range old {
		m := decode(t, file)
		if name == "a wrong place" { // whose chroma was taken from both halves together
			require.Greater(t, imagetest.PSNR(want.Pix, m.Pix), 40., name)
			continue
		}
		require.InDeltaSlice(t, want.Pix, m.Pix, 1.01/255, name)
	}
	header := bytes.Clone(old["a header"])
	binary.LittleEndian.PutUint16(header[bytes.LastIndex(header, []byte{tagJPEGFile & 255, tagJPEGFile >> 8, tiffdir.Long, 0}):], 0xfff0)
	_, err := read(header)
	require.ErrorIs(t, err, format.ErrMalformed) // without a table
}
