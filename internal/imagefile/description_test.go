package imagefile

import (
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// withDescription returns an image whose EXIF has a description.
func withDescription(text string) *Image {
	m := imagetest.Smooth(8, 6, 3)
	m.Metadata.EXIF = tiffdir.AppendDirectory([]byte("II*\x00\x08\x00\x00\x00"), 0, binary.LittleEndian, []tiffdir.Node{
		{Tag: tiffdir.TagImageDescription, Kind: tiffdir.ASCII, Count: uint32(len(text) + 1), Value: append([]byte(text), 0)},
		{Tag: 0x010f, Kind: tiffdir.ASCII, Count: 6, Value: []byte("Maker\x00")},
	})
	return m
}

func descriptionOf(t *testing.T, m *Image) string {
	t.Helper()
	e := openEXIF(t, m.Metadata.EXIF)
	f, found := tiffdir.Find(e.main, tiffdir.TagImageDescription)
	if !found {
		return ""
	}
	return string(m.Metadata.EXIF[f.Value : f.Value+f.Size-1])
}

func TestDescriptionsOfShapes(t *testing.T) {
	for text, c := range map[string]struct{ alone, enlarged bool }{
		"my cat, 8x6":                                {true, true},
		`{"shape": [6, 8, 3]}`:                       {true, false},
		`<?xml?><OME><Pixels SizeX="8"/>`:            {true, false},
		"ImageJ=1.53\nunit=micron\n":                 {true, true},
		"ImageJ=1.53\nimages=1\nmin=0.0\n":           {true, true},
		"ImageJ=1.53\nimages=3\nslices=3\n":          {false, false},
		"ImageJ=1.53\nimages=99999999999999999999\n": {false, false},
	} {
		kept := func(keeps bool) string {
			if keeps {
				return text
			}
			return ""
		}
		m := decode(t, encode(t, withDescription(text), WriteOptions{Format: TIFF}))
		require.Equal(t, kept(c.alone), descriptionOf(t, m), text)
		require.Equal(t, !c.alone, len(m.Warnings) > 0, text)

		m = decode(t, encode(t, withDescription(text), WriteOptions{Format: JPEG}))
		large := enlarged(m, 2)
		want := []string(nil)
		if !c.enlarged {
			want = []string{"a program's own description of its shape, because the size is another one"}
		}
		require.Equal(t, want, Losses(large, WriteOptions{Format: TIFF}), text)
		require.Equal(t, kept(c.enlarged), descriptionOf(t, decode(t, encode(t, large, WriteOptions{Format: TIFF}))), text)
	}
}
