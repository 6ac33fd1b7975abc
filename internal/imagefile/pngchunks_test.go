package imagefile

import (
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// withMalformedChunks is a PNG of one grey pixel whose chunks of gamma, primaries and texts are empty or
// there twice.
func withMalformedChunks() []byte {
	return join(pngHeaderChunk(1, 1, 8, pngGrey),
		chunk("cHRM", nil), chunk("gAMA", []byte{0, 0, 0xb1, 0x8f}), chunk("gAMA", nil), chunk("gAMA", []byte{0, 1, 0, 0}),
		chunk("sRGB", []byte{0, 0}), chunk("tEXt", nil), chunk("zTXt", []byte("\x00text")), chunk("tEXt", []byte("Title\x00kept")),
		chunk("IDAT", []byte{0x78, 0x01, 0x01, 2, 0, 0xfd, 0xff, 0, 128, 0, 0x82, 0, 0x81}), chunk("IEND", nil))
}

// libpng, Pillow and others complain of such chunks, or cannot open a file with them.
func TestMalformedChunksAreDropped(t *testing.T) {
	m := decode(t, withMalformedChunks())
	require.Equal(t, []metadata.Chunk{{Name: "gAMA", Data: []byte{0, 0, 0xb1, 0x8f}}, {Name: "tEXt", Data: []byte("Title\x00kept")}}, m.Metadata.Chunks)
	for _, name := range []string{"cHRM", "gAMA", "sRGB", "tEXt", "zTXt"} {
		require.Contains(t, m.Warnings, "the chunk "+name+" is dropped: it is malformed")
	}
	require.Len(t, m.Warnings, 5)
	again := string(encode(t, m, WriteOptions{Format: PNG}))
	require.Equal(t, 1, strings.Count(again, "gAMA"))
	require.NotContains(t, again, "cHRM")
}
