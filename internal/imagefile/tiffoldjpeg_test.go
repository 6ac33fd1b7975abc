package imagefile

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// jpegTIFF is a file of parts, of which those named by strips are the strips of a colour image of 32×32 pixels.
// Other tags hold the places of parts.
func jpegTIFF(compression int, parts [][]byte, strips []int, rows uint32, tags map[uint16][]int) []byte {
	raw := []byte("II*\x00\x00\x00\x00\x00")
	var places []uint32
	for _, p := range parts {
		places = append(places, uint32(len(raw)))
		raw = append(raw, p...)
	}
	t := tiffdir.Builder{Order: binary.LittleEndian}
	t.Longs(tiffdir.TagImageWidth, 32)
	t.Longs(tiffdir.TagImageLength, 32)
	t.Shorts(tiffdir.TagBitsPerSample, 8, 8, 8)
	t.Shorts(tiffdir.TagCompression, compression)
	t.Shorts(tiffdir.TagPhotometric, photometricYCbCr)
	t.Shorts(tiffdir.TagSamplesPerPixel, 3)
	t.Longs(tiffdir.TagRowsPerStrip, rows)
	t.Shorts(tagYCbCrSubsampling, 2, 2)
	var offsets, counts []uint32
	for _, i := range strips {
		offsets, counts = append(offsets, places[i]), append(counts, uint32(len(parts[i])))
	}
	t.Longs(tiffdir.TagStripOffsets, offsets...)
	t.Longs(tiffdir.TagStripByteCounts, counts...)
	for tag, of := range tags {
		var v []uint32
		for _, i := range of {
			v = append(v, places[i])
		}
		t.Longs(tag, v...)
	}
	t.Order.PutUint32(raw[4:], uint32(len(raw)))
	return append(raw, tiffdir.AppendDirectory(nil, uint32(len(raw)), t.Order, t.Nodes)...)
}

// oldJPEGFiles are files of TIFF 6.0's JPEG, and the same strips in JPEG as it is now.
func oldJPEGFiles(t testing.TB) (now []byte, old map[string][]byte) {
	whole := smoothImage(32, 32, 3)
	var files, headers, scans [][]byte // scans begin with their segment
	for k := range 2 {
		m := newImage(32, 16, 3, 8, false)
		for c := range 3 {
			copy(m.Plane(c), whole.Plane(c)[k*32*16:])
		}
		file := goJPEG(t, m, 90)
		at := bytes.Index(file, []byte{0xff, markerSOS})
		files, headers, scans = append(files, file), append(headers, file[:at]), append(scans, file[at:len(file)-2])
	}
	const scanSegment = 14
	data := [][]byte{scans[0][scanSegment:], scans[1][scanSegment:]}
	steps := headers[0][bytes.Index(headers[0], []byte{0xff, markerDQT})+4:]
	tables := [][]byte{data[0], data[1], steps[1:65], steps[66:130]}
	for _, h := range jpegHuffman {
		for _, code := range h {
			tables = append(tables, append(code.lengths[:len(code.lengths):len(code.lengths)], code.symbols...))
		}
	}
	one := goJPEG(t, whole, 90)
	first := []int{0, 1}
	return jpegTIFF(compressionJPEG, files, first, 16, nil), map[string][]byte{
		"whole files":    jpegTIFF(compressionOldJPEG, files, first, 16, nil),
		"tables in tags": jpegTIFF(compressionOldJPEG, tables, first, 16, map[uint16][]int{tagJPEGSteps: {2, 3, 3}, tagJPEGDCCodes: {4, 6, 6}, tagJPEGACCodes: {5, 7, 7}}),
		"a header":       jpegTIFF(compressionOldJPEG, [][]byte{scans[0], data[1], headers[0]}, first, 16, map[uint16][]int{tagJPEGFile: {2}}),
		"a wrong place":  jpegTIFF(compressionOldJPEG, [][]byte{one[:7], one}, []int{0}, 32, map[uint16][]int{tagJPEGFile: {1}}),
	}
}

func TestOldJPEGInTIFF(t *testing.T) {
	now, old := oldJPEGFiles(t)
	want := decode(t, now)
	require.Greater(t, psnr(smoothImage(32, 32, 3).Pix, want.Pix), 30.)
	for name, file := range old {
		m := decode(t, file)
		if name == "a wrong place" { // whose chroma was taken from both halves together
			require.Greater(t, psnr(want.Pix, m.Pix), 40., name)
			continue
		}
		require.InDeltaSlice(t, want.Pix, m.Pix, 1.01/255, name)
	}
	header := bytes.Clone(old["a header"])
	binary.LittleEndian.PutUint16(header[bytes.LastIndex(header, []byte{tagJPEGFile & 255, tagJPEGFile >> 8, tiffdir.Long, 0}):], 0xfff0)
	_, err := DecodeAt(bytes.NewReader(header), int64(len(header)), ReadOptions{})
	require.ErrorIs(t, err, ErrMalformed) // without a table
}
