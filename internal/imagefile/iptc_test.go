package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/imagefile/tiff"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

const testIPTC = "\x1c\x02\x78\x00\x07caption\x1c\x02\x19\x00\x05words"

func TestIPTCGoesToEveryFormatThatHasIt(t *testing.T) {
	m := imagetest.Smooth(9, 5, 3)
	m.Metadata.IPTC = []byte(testIPTC)
	for _, first := range []Format{JPEG, TIFF, PNG} {
		a := decode(t, encode(t, m, WriteOptions{Format: first}))
		require.Equal(t, testIPTC, string(a.Metadata.IPTC), first)
		for _, second := range []Format{JPEG, TIFF, PNG} {
			require.Empty(t, Losses(a, WriteOptions{Format: second}), "%v to %v", first, second)
			b := decode(t, encode(t, a, WriteOptions{Format: second}))
			require.Equal(t, testIPTC, string(b.Metadata.IPTC), "%v to %v", first, second)
			require.Nil(t, decode(t, encode(t, a, WriteOptions{Format: second, DropMetadata: true})).Metadata.IPTC)
		}
		for _, f := range []Format{BMP, PPM, PFM} {
			require.Contains(t, Losses(a, WriteOptions{Format: f}), "IPTC")
		}
	}
	m.Metadata.IPTC = append(m.Metadata.IPTC, make([]byte, 65530)...)
	require.Equal(t, []string{"IPTC"}, Losses(m, WriteOptions{Format: JPEG}))
	require.Nil(t, decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.IPTC)
	require.Equal(t, m.Metadata.IPTC, decode(t, encode(t, m, WriteOptions{Format: PNG})).Metadata.IPTC)
}

func TestIPTCIsWrittenOnce(t *testing.T) {
	m := imagetest.Smooth(9, 5, 3)
	segment := append([]byte("Photoshop 3.0\x00"), append(resource(2000, "path"), resource(1028, testIPTC)...)...)
	m.Metadata.Segments = []metadata.Segment{{Marker: metadata.MarkerAPP13, Data: segment}}
	written := encode(t, m, WriteOptions{Format: JPEG})
	again := decode(t, written)
	require.Equal(t, m.Metadata.Segments, again.Metadata.Segments)
	require.Equal(t, testIPTC, string(again.Metadata.IPTC))
	require.Equal(t, 1, bytes.Count(encode(t, again, WriteOptions{Format: JPEG}), []byte("caption")))
	// The path is lost, the caption is not.
	require.Equal(t, []string{"texts and other parts that only the source's format can hold"}, Losses(again, WriteOptions{Format: TIFF}))
	require.Equal(t, testIPTC, string(decode(t, encode(t, again, WriteOptions{Format: TIFF})).Metadata.IPTC))
}

// A resource may be spread over segments.
func TestIPTCOfTwoSegments(t *testing.T) {
	whole := resource(1028, testIPTC)
	m := imagetest.Smooth(9, 5, 3)
	for _, part := range [][]byte{whole[:20], whole[20:]} {
		m.Metadata.Segments = append(m.Metadata.Segments, metadata.Segment{Marker: metadata.MarkerAPP13, Data: append([]byte("Photoshop 3.0\x00"), part...)})
	}
	require.Equal(t, testIPTC, string(decode(t, encode(t, m, WriteOptions{Format: JPEG})).Metadata.IPTC))
}

func TestPlacesOfIPTCInTIFFAndEXIF(t *testing.T) {
	swapped := append([]byte(testIPTC), make([]byte, 3)...)[:len(testIPTC)/4*4+4]
	for i := 0; i < len(swapped); i += 4 {
		binary.LittleEndian.PutUint32(swapped[i:], binary.BigEndian.Uint32(swapped[i:]))
	}
	for name, n := range map[string]tiffdir.Node{
		"bytes":                    {Tag: tiffdir.TagIPTC, Kind: tiffdir.Byte, Value: []byte(testIPTC)},
		"numbers of another order": {Tag: tiffdir.TagIPTC, Kind: tiffdir.Long, Value: swapped},
		"a resource of Photoshop":  {Tag: 0x8649, Kind: tiffdir.Byte, Value: append(resource(1005, "resolution"), resource(1028, testIPTC)...)},
	} {
		n.Count = uint32(int64(len(n.Value)) / tiffdir.TypeSizes[n.Kind])
		exif := tiffdir.AppendDirectory([]byte("II*\x00\x08\x00\x00\x00"), 0, binary.LittleEndian, []tiffdir.Node{n})
		m := imagetest.Smooth(9, 5, 3)
		m.Metadata.EXIF = exif
		for _, f := range []Format{JPEG, PNG} {
			got := decode(t, encode(t, m, WriteOptions{Format: f}))
			require.Equal(t, testIPTC, string(bytes.TrimRight(got.Metadata.IPTC, "\x00")), name)
			again := decode(t, encode(t, got, WriteOptions{Format: TIFF}))
			require.Equal(t, got.Metadata.IPTC, again.Metadata.IPTC, name)
		}
		require.NoError(t, tiff.TakeMetadata(m, source.File(context.Background(), bytes.NewReader(exif), int64(len(exif)), 0)))
		require.Equal(t, testIPTC, string(bytes.TrimRight(m.Metadata.IPTC, "\x00")), name)
	}
}
