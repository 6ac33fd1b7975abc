package tiff

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/tiffdir"
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
		m := decode(t, imagetest.TIFF(b.Bytes(), map[uint16]uint32{
			tiffdir.TagImageWidth: uint32(side), tiffdir.TagImageLength: uint32(side), tiffdir.TagRowsPerStrip: uint32(side), tiffdir.TagCompression: compressionLZW,
		}))
		for i, v := range m.Pix {
			require.Equal(t, samples.Unit8[raw[i]], v)
		}
	}
}

func TestTilesUnderTheTagsOfStrips(t *testing.T) {
	raw := make([]byte, 16*16)
	for i := range raw {
		raw[i] = byte(i)
	}
	m := decode(t, imagetest.TIFF(raw, map[uint16]uint32{tiffdir.TagTileWidth: 16, tiffdir.TagTileLength: 16}))
	require.Equal(t, []float32{0, samples.Unit8[1], samples.Unit8[2], samples.Unit8[3], samples.Unit8[16]}, m.Pix[:5])
}

// The preview of a raw photograph, whose mosaic is in a subdirectory, is not taken for the photograph.
func TestRawPhotographsOfMakers(t *testing.T) {
	for model, refused := range map[byte]bool{photometricRGB: false, 0x23: true} {
		preview := make([]byte, 16*16)
		sub := []byte{1, 0, tiffdir.TagPhotometric & 0xff, tiffdir.TagPhotometric >> 8, tiffdir.Short, 0, 1, 0, 0, 0, model, 0x80, 0, 0, 0, 0, 0, 0}
		if !refused {
			sub[11] = 0
		}
		whole := imagetest.TIFF(append(preview, sub...), map[uint16]uint32{tiffdir.TagSubIFDs: 0xABCDEF})
		at := bytes.Index(whole, sub)
		data := bytes.Replace(whole, []byte{0xEF, 0xCD, 0xAB, 0}, binary.LittleEndian.AppendUint32(nil, uint32(at)), 1)
		_, err := read(data)
		if refused {
			require.ErrorIs(t, err, format.ErrUnsupported)
			require.ErrorContains(t, err, "camera's maker")
		} else {
			require.NoError(t, err)
		}
	}
}

func TestIntegersOfAllDepths(t *testing.T) {
	for depth := 1; depth <= 16; depth++ {
		want := make([]uint32, 4*4)
		var raw []byte
		for y := range 4 {
			row := ""
			for x := range 4 {
				want[4*y+x] = uint32(y*40503+x*9973) & (1<<depth - 1)
				row += fmt.Sprintf("%0*b", depth, want[4*y+x])
			}
			for row += "0000000"; len(row) >= 8; row = row[8:] {
				b, err := strconv.ParseUint(row[:8], 2, 8)
				require.NoError(t, err)
				raw = append(raw, byte(b))
			}
		}
		if depth == 16 {
			for i := 0; i < len(raw); i += 2 { // the file is little-endian
				raw[i], raw[i+1] = raw[i+1], raw[i]
			}
		}
		m := decode(t, imagetest.TIFF(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: uint32(depth)}))
		require.Equal(t, depth, m.SourceDepth)
		require.Equal(t, map[bool]int{true: 8, false: 16}[depth <= 8], m.Depth)
		for i, v := range m.Pix {
			require.InDelta(t, float64(want[i])/float64(uint32(1)<<depth-1), v, 1e-7, depth)
		}
	}
}

func TestHalfFloats(t *testing.T) {
	var raw []byte
	for _, h := range []uint16{0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x0000, 0x0400, 0x8001, 0, 0, 0, 0, 0, 0, 0, 0} {
		raw = binary.LittleEndian.AppendUint16(raw, h)
	}
	m := decode(t, imagetest.TIFF(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: 16, tiffdir.TagSampleFormat: formatFloat}))
	require.Equal(t, 32, m.Depth)
	require.Equal(t, []float32{1, -2, 0.333251953125, 0x1p-24, 65504, 0, 0x1p-14, -0x1p-24}, m.Pix[:8])
	raw[1] = 0x7c
	m = decode(t, imagetest.TIFF(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: 16, tiffdir.TagSampleFormat: formatFloat}))
	require.ErrorIs(t, m.CheckFinite(), picture.ErrNotFinite)
}
