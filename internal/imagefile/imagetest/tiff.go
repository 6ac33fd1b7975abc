package imagetest

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/tiffdir"
)

// What package tiff calls by these names, too.
const (
	photometricRGB      = 2
	photometricYCbCr    = 6
	photometricICCLab   = 9
	compressionOldJPEG  = 6
	compressionJPEG     = 7
	predictorHorizontal = 2
	formatSigned        = 2
	formatFloat         = 3
	tagExtraSamples     = 338
	tagJPEGFile         = 513
	tagJPEGSteps        = 519
	tagJPEGDCCodes      = 520
	tagJPEGACCodes      = 521
	tagYCbCrSubsampling = 530
)

// TIFF returns a TIFF with one strip of raw bytes and these fields.
func TIFF(raw []byte, fields map[uint16]uint32) []byte {
	tags := tiffdir.Builder{Order: binary.LittleEndian}
	all := map[uint16]uint32{
		tiffdir.TagImageWidth: 4, tiffdir.TagImageLength: 4, tiffdir.TagBitsPerSample: 8, tiffdir.TagCompression: 1, tiffdir.TagPhotometric: 1,
		tiffdir.TagStripOffsets: 8, tiffdir.TagRowsPerStrip: 4, tiffdir.TagStripByteCounts: uint32(len(raw)), tiffdir.TagSamplesPerPixel: 1,
	}
	for tag, v := range fields {
		all[tag] = v
	}
	for tag, v := range all {
		tags.Longs(tag, v)
	}
	head := []byte("II*\x00\x00\x00\x00\x00")
	binary.LittleEndian.PutUint32(head[4:], uint32(8+len(raw)))
	return append(append(head, raw...), tiffdir.AppendDirectory(nil, uint32(8+len(raw)), binary.LittleEndian, tags.Nodes)...)
}

// FiveSamplesTIFF has pixels of red, green, blue, a spot colour and alpha, as Photoshop writes them.
func FiveSamplesTIFF() []byte {
	var raw []byte
	for i := range 16 {
		raw = append(raw, byte(10+i), byte(50+i), byte(90+i), 77, byte(200+i))
	}
	t := tiffdir.Builder{Order: binary.LittleEndian}
	t.Longs(tiffdir.TagImageWidth, 4)
	t.Longs(tiffdir.TagImageLength, 4)
	t.Shorts(tiffdir.TagBitsPerSample, 8, 8, 8, 8, 8)
	t.Shorts(tiffdir.TagPhotometric, photometricRGB)
	t.Shorts(tiffdir.TagSamplesPerPixel, 5)
	t.Longs(tiffdir.TagStripOffsets, 8)
	t.Longs(tiffdir.TagStripByteCounts, uint32(len(raw)))
	t.Shorts(tagExtraSamples, 0, 2)
	head := []byte("II*\x00\x00\x00\x00\x00")
	t.Order.PutUint32(head[4:], uint32(8+len(raw)))
	return append(append(head, raw...), tiffdir.AppendDirectory(nil, uint32(8+len(raw)), t.Order, t.Nodes)...)
}

// DifferencesTIFF has floats whose bits are differences, as GDAL writes them.
func DifferencesTIFF(bits int) (file []byte, values []float32) {
	var raw []byte
	le := binary.LittleEndian
	for range 4 {
		var before uint64
		for x := range 4 {
			v := float32(1.5 + float32(x)/4 + float32(len(values)))
			values = append(values, v)
			code := uint64(math.Float32bits(v))
			switch bits {
			case 16: // a half float: the exponent has another bias, and 10 bits follow it
				code = code>>13&0x3ff | (code>>23-127+15)<<10
			case 64:
				code = math.Float64bits(float64(v))
			}
			b := le.AppendUint64(nil, code-before)
			raw = append(raw, b[:bits/8]...)
			before = code
		}
	}
	return TIFF(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: uint32(bits), tiffdir.TagSampleFormat: formatFloat, tiffdir.TagPredictor: predictorHorizontal}), values
}

// LabColours are colours of sRGB and their CIELab values, of D50, by Bradford's adaptation.
var LabColours = []struct{ RGB, Lab [3]float64 }{
	{[3]float64{1, 1, 1}, [3]float64{100, 0, 0}},
	{[3]float64{0, 0, 0}, [3]float64{0, 0, 0}},
	{[3]float64{1, 0, 0}, [3]float64{54.29, 80.81, 69.89}},
	{[3]float64{0, 1, 0}, [3]float64{87.82, -79.28, 80.99}},
	{[3]float64{0, 0, 1}, [3]float64{29.57, 68.30, -112.03}},
	{[3]float64{0.5, 0.5, 0.5}, [3]float64{53.39, 0, 0}},
}

// LabTIFF has a row of LabColours.
func LabTIFF(photometric uint32, bits int) []byte {
	var raw []byte
	offset := 0.
	if photometric == photometricICCLab {
		offset = 128
	}
	for _, c := range LabColours {
		for k, v := range c.Lab {
			switch {
			case bits == 8 && k == 0:
				raw = append(raw, byte(math.Round(v*2.55)))
			case bits == 8:
				raw = append(raw, byte(int(math.Round(v+offset))))
			case k == 0 && photometric == photometricICCLab:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Round(v*652.8)))
			case k == 0:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Round(v*655.35)))
			default:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(int(math.Round(256*(v+offset)))))
			}
		}
	}
	n := uint32(len(LabColours))
	return TIFF(raw, map[uint16]uint32{tiffdir.TagImageWidth: n, tiffdir.TagImageLength: 1, tiffdir.TagRowsPerStrip: 1, tiffdir.TagSamplesPerPixel: 3, tiffdir.TagPhotometric: photometric, tiffdir.TagBitsPerSample: uint32(bits)})
}

// SignedTIFF has 4×4 samples below and above 0.
func SignedTIFF(bits int) (file []byte, values []float32) {
	var raw []byte
	for i := range 16 {
		v := (i - 7) * 15
		if bits == 8 {
			raw = append(raw, byte(v))
		} else {
			v *= 256
			raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
		}
		values = append(values, float32(v))
	}
	return TIFF(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: uint32(bits), tiffdir.TagSampleFormat: formatSigned}), values
}

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

// OldJPEGInTIFF are files of TIFF 6.0's JPEG, and the same strips in JPEG as it is now.
func OldJPEGInTIFF(t testing.TB) (now []byte, old map[string][]byte) {
	whole := Smooth(32, 32, 3)
	var files, headers, scans [][]byte // scans begin with their segment
	for k := range 2 {
		m := picture.New(32, 16, 3, 8, false)
		for c := range 3 {
			copy(m.Plane(c), whole.Plane(c)[k*32*16:])
		}
		file := GoJPEG(t, m, 90)
		at := bytes.Index(file, []byte{0xff, segment.SOS})
		files, headers, scans = append(files, file), append(headers, file[:at]), append(scans, file[at:len(file)-2])
	}
	const scanSegment = 14
	data := [][]byte{scans[0][scanSegment:], scans[1][scanSegment:]}
	steps := headers[0][bytes.Index(headers[0], []byte{0xff, segment.DQT})+4:]
	tables := [][]byte{data[0], data[1], steps[1:65], steps[66:130]}
	codes := headers[0][bytes.Index(headers[0], []byte{0xff, segment.DHT})+4:]
	for range 4 { // of luma and of chroma, for the mean and for the rest
		size := 16
		for _, n := range codes[1:17] {
			size += int(n)
		}
		tables = append(tables, codes[1:1+size])
		codes = codes[1+size:]
	}
	one := GoJPEG(t, whole, 90)
	first := []int{0, 1}
	return jpegTIFF(compressionJPEG, files, first, 16, nil), map[string][]byte{
		"whole files":    jpegTIFF(compressionOldJPEG, files, first, 16, nil),
		"tables in tags": jpegTIFF(compressionOldJPEG, tables, first, 16, map[uint16][]int{tagJPEGSteps: {2, 3, 3}, tagJPEGDCCodes: {4, 6, 6}, tagJPEGACCodes: {5, 7, 7}}),
		"a header":       jpegTIFF(compressionOldJPEG, [][]byte{scans[0], data[1], headers[0]}, first, 16, map[uint16][]int{tagJPEGFile: {2}}),
		"a wrong place":  jpegTIFF(compressionOldJPEG, [][]byte{one[:7], one}, []int{0}, 32, map[uint16][]int{tagJPEGFile: {1}}),
	}
}
