package fax_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/tiff"
	"github.com/averaged/imaging/internal/imagefile/tiff/fax"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// The compressions of TIFF, and the tag with options.
const (
	huffman      = 2
	group3       = 3
	group4       = 4
	huffmanWords = 32771
	t4Options    = 292
)

// faxTIFF returns a TIFF of one strip, of one sample of one bit.
func faxTIFF(packed []byte, width, height int, compression, photometric, options uint32) []byte {
	return imagetest.TIFF(packed, map[uint16]uint32{
		tiffdir.TagImageWidth: uint32(width), tiffdir.TagImageLength: uint32(height), tiffdir.TagRowsPerStrip: uint32(height),
		tiffdir.TagBitsPerSample: 1, tiffdir.TagCompression: compression, tiffdir.TagPhotometric: photometric, t4Options: options,
	})
}

func TestFaxIsWhiteAsTheFileSays(t *testing.T) {
	rows := fax.DrawRows(rand.New(rand.NewPCG(1, 2)), 100, 30)
	for _, c := range []struct {
		form                 fax.Form
		fill                 bool
		compression, options uint32
	}{
		{fax.Bytes, false, huffman, 0},
		{fax.Words, false, huffmanWords, 0},
		{fax.Group3, false, group3, 0},
		{fax.Group3, true, group3, 4},
		{fax.Mixed, false, group3, 1},
		{fax.Mixed, true, group3, 5},
		{fax.Group4, false, group4, 0},
	} {
		packed := fax.EncodeRows(rows, c.form, c.fill)
		for photometric := range uint32(2) {
			m := decode(t, faxTIFF(packed, 100, 30, c.compression, photometric, c.options))
			for i, v := range m.Pix {
				bit := float32(rows[i/100][i%100])
				if photometric == 0 {
					bit = 1 - bit
				}
				require.Equal(t, bit, v, "%v at %d", c, i)
			}
		}
	}
}

// TestFaxFilesOfReports: one picture as libtiff wrote it, mean 0.939 of white in
// libtiff's reading.
func TestFaxFilesOfReports(t *testing.T) {
	white := decode(t, imagetest.File(t, "fax_white_is_zero.tif"))
	for _, name := range []string{"fax_black_is_zero.tif", "fax_g3_fillbits.tif"} {
		m := decode(t, imagetest.File(t, name))
		require.Equal(t, white.Pix, m.Pix, name)
	}
	sum := 0.0
	for _, v := range white.Pix {
		sum += float64(v)
	}
	require.InDelta(t, 0.939, sum/float64(len(white.Pix)), 0.001)
}

func TestBrokenFaxIsNamed(t *testing.T) {
	for want, code := range map[string]string{
		"no run has the code":   "0000000010101010101010101010",
		"beyond the end":        "10010" + "00110101" + strings.Repeat("1", 40),
		"uncompressed rows":     "0000001111000000000000000000",
		"no difference has the": "00000000111111111111111111",
	} {
		w := &fax.Bits{}
		form := huffman
		if strings.Contains(want, "rows") || strings.Contains(want, "difference") {
			form = group4
		}
		w.Put(code)
		_, err := read(faxTIFF(w.Packed, 100, 1, uint32(form), 0, 0))
		require.ErrorContains(t, err, want)
		require.LessOrEqual(t, strings.Count(err.Error(), "malformed"), 1, err)
	}
}

// read decodes a file, decode one that is whole.
var read, decode = imagetest.Reading(tiff.Decode)
