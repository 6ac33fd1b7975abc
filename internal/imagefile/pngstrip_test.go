package imagefile

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/stretchr/testify/require"
)

func TestStrippedPNG(t *testing.T) {
	data := imagetest.File(t, "palt.png")
	plain, err := io.ReadAll(Stripped(bytes.NewReader(data)))
	require.NoError(t, err)
	const header = 33
	exif := imagetest.Chunk("eXIf", imagetest.EXIF(binary.LittleEndian, 1, 23, 17))
	full := join(data[:header], imagetest.Chunk("gAMA", []byte{0, 0, 0xb1, 0x8f}), exif, imagetest.Chunk("tEXt", []byte("Author\x00somebody")), data[header:], []byte("behind"))
	got, err := io.ReadAll(iotest.OneByteReader(Stripped(iotest.HalfReader(bytes.NewReader(full)))))
	require.NoError(t, err)
	require.Equal(t, join(plain[:header], imagetest.Chunk("gAMA", []byte{0, 0, 0xb1, 0x8f}), plain[header:]), got)
	want, m := decode(t, full), decode(t, got)
	require.Equal(t, want.Pix, m.Pix)
	require.Equal(t, want.Alpha, m.Alpha)
	require.Nil(t, m.Metadata.EXIF)

	drop := WriteOptions{Format: PNG, DropMetadata: true}
	require.True(t, Strippable(want, drop))
	require.False(t, Strippable(want, WriteOptions{Format: PNG}))
	require.False(t, Strippable(want, WriteOptions{Format: TIFF, DropMetadata: true}))
	require.False(t, Strippable(want, WriteOptions{Format: PNG, DropMetadata: true, Depth: 16}))
	turned := join(data[:header], imagetest.Chunk("eXIf", imagetest.EXIF(binary.LittleEndian, 6, 23, 17)), data[header:])
	require.False(t, Strippable(decode(t, turned), drop))

	_, err = io.ReadAll(Stripped(bytes.NewReader(full[:header+3])))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
