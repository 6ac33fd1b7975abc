package imagefile

import (
	"bytes"
	"compress/lzw"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOldLZW reads LZW as it was before TIFF 6.0, of so many bytes that codes grow to 12 bits and
// the table is begun anew.
func TestOldLZW(t *testing.T) {
	for _, side := range []int{4, 40, 300} {
		raw := make([]byte, side*side)
		for i := range raw {
			raw[i] = byte(i * i >> 3 * (i / 7))
		}
		var b bytes.Buffer
		w := lzw.NewWriter(&b, lzw.LSB, 8)
		_, err := w.Write(raw)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		m := decode(t, tiffOf(b.Bytes(), map[uint16]uint32{
			tagImageWidth: uint32(side), tagImageLength: uint32(side), tagRowsPerStrip: uint32(side), tagCompression: compressionLZW,
		}))
		for i, v := range m.Pix {
			require.Equal(t, unit8[raw[i]], v)
		}
	}
}

func TestTilesUnderTheTagsOfStrips(t *testing.T) {
	raw := make([]byte, 16*16)
	for i := range raw {
		raw[i] = byte(i)
	}
	m := decode(t, tiffOf(raw, map[uint16]uint32{tagTileWidth: 16, tagTileLength: 16}))
	require.Equal(t, []float32{0, unit8[1], unit8[2], unit8[3], unit8[16]}, m.Pix[:5])
}
