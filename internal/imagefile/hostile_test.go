package imagefile

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// Small files that would take minutes or gigabytes.

// endingReader ends a context after a number of reads.
type endingReader struct {
	*bytes.Reader
	reads int
	end   context.CancelFunc
}

func (r *endingReader) ReadAt(p []byte, off int64) (int, error) {
	if r.reads--; r.reads == 0 {
		r.end()
	}
	return r.Reader.ReadAt(p, off)
}

func TestReadingStopsWithItsContext(t *testing.T) {
	for _, name := range []string{"rgb8.png", "gray.jpg", "rgb8l.tif", "rgb8.bmp", "rgba8.webp", "pal.gif", "g16.pfm"} {
		data := imagetest.File(t, name)
		for _, damaged := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := DecodeAt(ctx, &endingReader{bytes.NewReader(data), 2, cancel}, int64(len(data)), ReadOptions{Damaged: damaged})
			require.Equal(t, context.Canceled, err, name)
		}
	}
}

// withScans is a JPEG whose scan is there so many times.
func withScans(t *testing.T, n int) []byte {
	file := imagetest.File(t, "gray.jpg")
	at := bytes.Index(file, []byte{0xff, segment.SOS})
	require.Positive(t, at)
	scan := file[at : len(file)-2]
	return slices.Concat(file[:at], bytes.Repeat(scan, n), []byte{0xff, segment.EOI})
}

func TestScansOfJPEGAreLimited(t *testing.T) {
	decode(t, withScans(t, 256))
	many := withScans(t, 257)
	_, err := Decode(t.Context(), bytes.NewReader(many), ReadOptions{})
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorContains(t, err, "more than 256 scans")
	require.True(t, MaySalvage(err))

	// Metadata may have the bytes of the marker.
	decode(t, imagetest.WithSegment(imagetest.File(t, "gray.jpg"), segment.COM, bytes.Repeat([]byte{0xff, segment.SOS}, 1000)))
}

func TestProfilesAndTextsOfPNGAreLimitedTogether(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(make([]byte, 20<<20)) // less than they may all have
	require.NoError(t, err)
	require.NoError(t, z.Close())
	xmp := imagetest.Chunk("iTXt", append([]byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"), packed.Bytes()...))
	small := encode(t, imagetest.Random(4, 4, 1, 8, false), WriteOptions{Format: PNG})
	head, rest := small[:33], small[33:]
	decode(t, join(head, xmp, rest))
	_, err = Decode(t.Context(), bytes.NewReader(join(head, xmp, xmp, rest)), ReadOptions{})
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorContains(t, err, "larger than 32 MB when unpacked")
}

// sharedStrips is a TIFF of one column, of which each row is a strip of the same bytes.
func sharedStrips(rows int, compression uint32, strip []byte, stated bool) []byte {
	b := tiffdir.Builder{Order: binary.LittleEndian}
	b.Longs(tiffdir.TagImageWidth, 1)
	b.Longs(tiffdir.TagImageLength, uint32(rows))
	b.Longs(tiffdir.TagBitsPerSample, 8)
	b.Longs(tiffdir.TagCompression, compression)
	b.Longs(tiffdir.TagPhotometric, 1)
	b.Longs(tiffdir.TagRowsPerStrip, 1)
	b.Longs(tiffdir.TagStripOffsets, slices.Repeat([]uint32{8}, rows)...)
	if stated {
		b.Longs(tiffdir.TagStripByteCounts, slices.Repeat([]uint32{uint32(len(strip))}, rows)...)
	}
	head := binary.LittleEndian.AppendUint32([]byte("II*\x00"), uint32(8+len(strip)))
	return slices.Concat(head, strip, tiffdir.AppendDirectory(nil, uint32(8+len(strip)), b.Order, b.Nodes))
}

func TestStripsOfTIFFThatUnpackToNothing(t *testing.T) {
	const packBits = 32773
	for _, stated := range []bool{true, false} {
		require.Equal(t, 5, decode(t, sharedStrips(5, packBits, []byte("\x80\x80\x00a"), stated)).Height)
		_, err := Decode(t.Context(), bytes.NewReader(sharedStrips(1000, packBits, append(bytes.Repeat([]byte{0x80}, 1<<16), "\x00a"...), stated)), ReadOptions{})
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, "more bytes than their pixels need")
	}
}

func TestPaddingOfTIFFIsLimited(t *testing.T) {
	tiles := func(width, height, side uint32) error {
		_, err := Decode(t.Context(), bytes.NewReader(imagetest.TIFF(make([]byte, 1<<14), map[uint16]uint32{
			tiffdir.TagImageWidth: width, tiffdir.TagImageLength: height, tiffdir.TagTileWidth: side, tiffdir.TagTileLength: side,
		})), ReadOptions{MaxPixels: 100})
		return err
	}
	require.NoError(t, tiles(1, 100, 128))
	err := tiles(1, 100, 1<<16)
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorContains(t, err, "tiles of 65536×65536 in an image of 1×100")
}

// A frame of WebP is not decoded if it is larger than allowed, whatever the size of the canvas is.
func TestFramesOfWebPLargerThanTheirCanvas(t *testing.T) {
	chunk := func(name string, data []byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))), data...)
	}
	for name, head := range map[string][]byte{
		"VP8 ": {0x10, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f}, // a key frame of 16383×16383 pixels
		"VP8L": {0x2f, 0xfe, 0xbf, 0xff, 0x0f, 0},                      // 16383×16383
	} {
		body := slices.Concat([]byte("WEBP"), chunk("VP8X", make([]byte, 10)), chunk(name, head))
		_, err := Decode(t.Context(), bytes.NewReader(chunk("RIFF", body)), ReadOptions{MaxPixels: 1000})
		require.ErrorIs(t, err, ErrTooManyPixels, name)
		require.ErrorContains(t, err, "16383×16383", name)
	}
}

// countingReader counts the bytes that are read.
type countingReader struct {
	*bytes.Reader
	n int
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	r.n += n
	return n, err
}

// Of a progressive JPEG with too many scans the first ones are read, and no more.
func TestScansOfADamagedJPEGAreLimited(t *testing.T) {
	one := append([]byte{1}, make([]byte, 15)...) // a code of one word, of one bit
	many := []byte{0xff, segment.SOI}
	for _, s := range []struct {
		marker byte
		data   []byte
	}{
		{segment.DQT, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)},
		{segment.SOF2, []byte{8, 0, 8, 0, 8, 1, 1, 0x11, 0}}, // 8×8 pixels of one component
		{segment.DHT, slices.Concat([]byte{0}, one, []byte{0})},
		{segment.DHT, slices.Concat([]byte{0x10}, one, []byte{0})},
		{segment.SOS, []byte{1, 1, 0, 0, 0, 0}},
	} {
		many = segment.Append(many, s.marker, "", s.data)
	}
	many = append(many, 0x7f)
	scan := append(segment.Append(nil, segment.SOS, "", []byte{1, 1, 0, 1, 63, 0}), 0x7f)
	many = slices.Concat(many, bytes.Repeat(scan, 10000), []byte{0xff, segment.EOI})
	r := &countingReader{Reader: bytes.NewReader(many)}
	m, err := DecodeAt(t.Context(), r, int64(len(many)), ReadOptions{Damaged: true})
	require.NoError(t, err)
	require.True(t, m.Damaged)
	require.Less(t, r.n, 5*len(many)/2) // all of it to find the scans and to find the end, and the beginning a few times
}
