package png

import (
	"bytes"
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// libpng, Pillow and others complain of such chunks, or cannot open a file with them.
func TestMalformedChunksAreDropped(t *testing.T) {
	m := decode(t, imagetest.MalformedPNG())
	require.Equal(t, []metadata.Chunk{{Name: "gAMA", Data: []byte{0, 0, 0xb1, 0x8f}}, {Name: "tEXt", Data: []byte("Title\x00kept")}}, m.Metadata.Chunks)
	for _, name := range []string{"cHRM", "gAMA", "sRGB", "tEXt", "zTXt"} {
		require.Contains(t, m.Warnings, "the chunk "+name+" is dropped: it is malformed")
	}
	require.Len(t, m.Warnings, 5)
	var b bytes.Buffer
	require.NoError(t, Encode(&b, m, 8, 0))
	again := b.String()
	require.Equal(t, 1, strings.Count(again, "gAMA"))
	require.NotContains(t, again, "cHRM")
}
