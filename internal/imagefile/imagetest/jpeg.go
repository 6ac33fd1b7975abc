package imagetest

import (
	"bytes"
	"encoding/binary"
	"image/jpeg"
	"slices"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/stretchr/testify/require"
)

// GoJPEG is what image/jpeg, which has tables of the Independent JPEG Group and 4:2:0, makes of
// an image.
func GoJPEG(t testing.TB, m *picture.Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m.ToImage(), &jpeg.Options{Quality: quality}))
	return b.Bytes()
}

// WithSegment puts a segment behind the start of a JPEG.
func WithSegment(file []byte, marker byte, data []byte) []byte {
	head := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(data)))
	return slices.Concat(file[:2], head, data, file[2:])
}

// WithoutCodes is a JPEG without its Huffman tables, as the frames of Motion JPEG are.
func WithoutCodes(file []byte) []byte {
	out := bytes.Clone(file[:2])
	for at := 2; ; {
		n := 2 + int(binary.BigEndian.Uint16(file[at+2:]))
		if file[at+1] == segment.SOS {
			return append(out, file[at:]...)
		}
		if file[at+1] != segment.DHT {
			out = append(out, file[at:at+n]...)
		}
		at += n
	}
}

// WithTables replaces the tables of a JPEG whose first DQT segment has both.
func WithTables(t testing.TB, file []byte, change func(table, i int, step byte) byte) []byte {
	t.Helper()
	at := bytes.Index(file, []byte{0xff, segment.DQT})
	require.Positive(t, at)
	file = bytes.Clone(file)
	for table := range 2 {
		for i := range 64 {
			p := &file[at+4+65*table+1+i]
			*p = change(table, i, *p)
		}
	}
	return file
}
