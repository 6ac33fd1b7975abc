package dng

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/losslessjpeg"
	"github.com/averaged/imaging/internal/tiffdir"
)

// testFile describes a DNG file, whose raw image has samples pix.
type testFile struct {
	order         tiffdir.ByteOrder
	width, height int
	samples, bits int
	pix           []uint16
	// Of tiles, if tileWidth is not 0; else rows is of a strip.
	tileWidth, tileHeight, rows int
	// Lossless JPEG if predictor is not 0. The samples of a row are divided into components, and as
	// many rows are coded as one.
	predictor, components, rowsAsOne, precision int
	shortLengths                                bool        // lengths of strips or tiles have 16 bits
	below                                       bool        // in a SubIFD, with a preview above
	previewLast                                 bool        // the preview stands behind the raw image
	first                                       []testField // more fields of the first directory
	image                                       []testField // and of the raw image
}

type testField struct {
	tag, kind uint16
	values    []float64 // fractions are multiples of 1/1000
	sub       []testField
}

func (f *testFile) setDefaults() {
	if f.order == nil {
		f.order = binary.LittleEndian
	}
	f.samples = max(f.samples, 1)
	if f.bits == 0 {
		f.bits = 16
	}
	f.components, f.rowsAsOne = max(f.components, 1), max(f.rowsAsOne, 1)
	if f.precision == 0 {
		f.precision = f.bits
	}
	if f.rows == 0 {
		f.rows = f.height
	}
}

// blocks returns the bytes of the strips or tiles.
func (f *testFile) blocks(t testing.TB) [][]byte {
	w, h := f.tileWidth, f.tileHeight
	if w == 0 {
		w, h = f.width, f.rows
	}
	var blocks [][]byte
	for y0 := 0; y0 < f.height; y0 += h {
		for x0 := 0; x0 < f.width; x0 += w {
			rows := h
			if f.tileWidth == 0 {
				rows = min(h, f.height-y0)
			}
			var samples []uint16
			for y := y0; y < y0+rows; y++ {
				for x := x0; x < x0+w; x++ {
					for s := range f.samples {
						v := uint16(0)
						if x < f.width && y < f.height {
							v = f.pix[(y*f.width+x)*f.samples+s]
						}
						samples = append(samples, v)
					}
				}
			}
			if f.predictor == 0 {
				blocks = append(blocks, f.packed(samples, w*f.samples))
				continue
			}
			data, err := losslessjpeg.Encode(losslessjpeg.Frame{
				Width: w * f.samples * f.rowsAsOne / f.components, Height: rows / f.rowsAsOne,
				Components: f.components, Precision: f.precision, Predictor: f.predictor,
			}, samples)
			require.NoError(t, err)
			blocks = append(blocks, data)
		}
	}
	return blocks
}

// packed packs samples bit by bit.
func (f *testFile) packed(samples []uint16, row int) []byte {
	var out []byte
	for ; len(samples) > 0; samples = samples[row:] {
		line := make([]byte, (row*f.bits+7)/8)
		for i, v := range samples[:row] {
			if f.bits == 16 {
				f.order.PutUint16(line[2*i:], v)
				continue
			}
			for b := range f.bits {
				at := i*f.bits + b
				line[at/8] |= byte(v>>(f.bits-1-b)&1) << (7 - at%8)
			}
		}
		out = append(out, line...)
	}
	return out
}

// build returns the file.
func (f testFile) build(t testing.TB) []byte {
	f.setDefaults()
	out := make([]byte, 8)
	copy(out, "II*\x00")
	if f.order == tiffdir.ByteOrder(binary.BigEndian) {
		copy(out, "MM\x00*")
	}
	preview := func() (float64, float64) {
		at := len(out)
		out = append(out, bytes.Repeat([]byte("preview "), 24)...)
		return float64(at), float64(len(out) - at)
	}
	var previewAt, previewSize float64
	if f.below && !f.previewLast {
		previewAt, previewSize = preview()
	}
	var offsets, lengths []float64
	for _, b := range f.blocks(t) {
		if len(out)%2 == 1 {
			out = append(out, 0)
		}
		offsets, lengths = append(offsets, float64(len(out))), append(lengths, float64(len(b)))
		out = append(out, b...)
	}
	if f.below && f.previewLast {
		previewAt, previewSize = preview()
	}
	image := f.imageFields(offsets, lengths)
	first := image
	if f.below {
		first = []testField{
			{tag: tagNewSubFileType, kind: tiffdir.Long, values: []float64{1}},
			{tag: tiffdir.TagImageWidth, kind: tiffdir.Short, values: []float64{8}},
			{tag: tiffdir.TagImageLength, kind: tiffdir.Short, values: []float64{8}},
			{tag: tiffdir.TagBitsPerSample, kind: tiffdir.Short, values: []float64{8, 8, 8}},
			{tag: tiffdir.TagPhotometric, kind: tiffdir.Short, values: []float64{2}},
			{tag: tiffdir.TagStripOffsets, kind: tiffdir.Long, values: []float64{previewAt}},
			{tag: tiffdir.TagStripByteCounts, kind: tiffdir.Long, values: []float64{previewSize}},
			{tag: tiffdir.TagSubIFDs, kind: tiffdir.Long, sub: image},
		}
	}
	first = append(first,
		testField{tag: tiffdir.TagDNGVersion, kind: tiffdir.Byte, values: []float64{1, 4, 0, 0}},
		testField{tag: 50708, kind: 2, values: text("Test camera\x00")}, // UniqueCameraModel
		testField{tag: tiffdir.TagOrientation, kind: tiffdir.Short, values: []float64{6}},
		// ColorMatrix1 and AsShotNeutral, for other programs.
		testField{tag: 50721, kind: tiffdir.SRational, values: []float64{.9, -.2, -.1, -.4, 1.2, .2, -.05, .15, .6}},
		testField{tag: 50728, kind: tiffdir.Rational, values: []float64{.5, 1, .6}},
		testField{tag: tagRawImageDigest, kind: tiffdir.Byte, values: text("a digest 16 long")},
		testField{tag: tiffdir.TagEXIF, kind: tiffdir.Long, sub: []testField{{tag: 37500, kind: tiffdir.Undefined, values: text("maker note, with offsets of its own")}}},
	)
	first = append(first, f.first...)
	var at uint32
	out, at = f.appendDirectory(out, first)
	f.order.PutUint32(out[4:], at)
	return out
}

func text(s string) []float64 {
	var v []float64
	for _, b := range []byte(s) {
		v = append(v, float64(b))
	}
	return v
}

func (f *testFile) imageFields(offsets, lengths []float64) []testField {
	compression, photometric := 1., float64(photometricCFA)
	if f.predictor > 0 {
		compression = compressionJPEG
	}
	fields := []testField{
		{tag: tagNewSubFileType, kind: tiffdir.Long, values: []float64{0}},
		{tag: tiffdir.TagImageWidth, kind: tiffdir.Long, values: []float64{float64(f.width)}},
		{tag: tiffdir.TagImageLength, kind: tiffdir.Long, values: []float64{float64(f.height)}},
		{tag: tiffdir.TagBitsPerSample, kind: tiffdir.Short, values: slices.Repeat([]float64{float64(f.bits)}, f.samples)},
		{tag: tiffdir.TagCompression, kind: tiffdir.Short, values: []float64{compression}},
		{tag: tiffdir.TagSamplesPerPixel, kind: tiffdir.Short, values: []float64{float64(f.samples)}},
		{tag: tiffdir.TagPlanar, kind: tiffdir.Short, values: []float64{1}},
	}
	if f.samples > 1 {
		photometric = photometricLinearRaw
	} else {
		fields = append(fields,
			testField{tag: tagCFARepeatPatternDim, kind: tiffdir.Short, values: []float64{2, 2}},
			testField{tag: tagCFAPattern, kind: tiffdir.Byte, values: []float64{0, 1, 1, 2}})
	}
	fields = append(fields, testField{tag: tiffdir.TagPhotometric, kind: tiffdir.Short, values: []float64{photometric}})
	kind := uint16(tiffdir.Long)
	if f.shortLengths {
		kind = tiffdir.Short
	}
	if f.tileWidth > 0 {
		fields = append(fields,
			testField{tag: tiffdir.TagTileWidth, kind: tiffdir.Long, values: []float64{float64(f.tileWidth)}},
			testField{tag: tiffdir.TagTileLength, kind: tiffdir.Long, values: []float64{float64(f.tileHeight)}},
			testField{tag: tiffdir.TagTileOffsets, kind: tiffdir.Long, values: offsets},
			testField{tag: tiffdir.TagTileByteCounts, kind: kind, values: lengths})
	} else {
		fields = append(fields,
			testField{tag: tiffdir.TagRowsPerStrip, kind: tiffdir.Long, values: []float64{float64(f.rows)}},
			testField{tag: tiffdir.TagStripOffsets, kind: tiffdir.Long, values: offsets},
			testField{tag: tiffdir.TagStripByteCounts, kind: kind, values: lengths})
	}
	return append(fields, f.image...)
}

// appendDirectory appends the values and directories below, and then the directory, whose offset it
// returns. Of two fields with a tag it takes the last one, and none without values.
func (f *testFile) appendDirectory(out []byte, fields []testField) ([]byte, uint32) {
	fields = slices.Clone(fields)
	slices.Reverse(fields)
	slices.SortStableFunc(fields, func(a, b testField) int { return cmp.Compare(a.tag, b.tag) })
	fields = slices.CompactFunc(fields, func(a, b testField) bool { return a.tag == b.tag })
	fields = slices.DeleteFunc(fields, func(a testField) bool { return a.values == nil && a.sub == nil })
	directory := f.order.AppendUint16(nil, uint16(len(fields)))
	for _, e := range fields {
		values := e.values
		if e.sub != nil {
			var at uint32
			out, at = f.appendDirectory(out, e.sub)
			values = []float64{float64(at)}
		}
		var value []byte
		for _, v := range values {
			value = f.appendValue(value, e.kind, v)
		}
		directory = f.order.AppendUint16(directory, e.tag)
		directory = f.order.AppendUint16(directory, e.kind)
		directory = f.order.AppendUint32(directory, uint32(len(values)))
		if len(value) > 4 {
			out = append(out, make([]byte, len(out)%2)...)
			directory = f.order.AppendUint32(directory, uint32(len(out)))
			out = append(out, value...)
			continue
		}
		directory = append(directory, append(value, make([]byte, 4-len(value))...)...)
	}
	directory = f.order.AppendUint32(directory, 0)
	out = append(out, make([]byte, len(out)%2)...)
	return append(out, directory...), uint32(len(out))
}

func (f *testFile) appendValue(b []byte, kind uint16, v float64) []byte {
	switch kind {
	case tiffdir.Short:
		return f.order.AppendUint16(b, uint16(v))
	case tiffdir.Long:
		return f.order.AppendUint32(b, uint32(v))
	case tiffdir.Rational, tiffdir.SRational:
		return f.order.AppendUint32(f.order.AppendUint32(b, uint32(int32(v*1000))), 1000)
	case tiffdir.Double:
		return f.order.AppendUint64(b, math.Float64bits(v))
	}
	return append(b, byte(v))
}

// ramp returns samples of a slope in all colours, with a pattern that looks like noise.
func ramp(n, bits int) []uint16 {
	pix := make([]uint16, n)
	for i := range pix {
		pix[i] = uint16((uint32(i)*40 + uint32(i)*uint32(i)*2654435761>>24) & (1<<bits - 1))
	}
	return pix
}

// read reads a file that must be right.
func read(t require.TestingT, data []byte) *Raw {
	m, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
	require.NoError(t, err)
	return m
}

// write returns the file with other samples.
func write(t require.TestingT, m *Raw, pix []uint16) []byte {
	var b bytes.Buffer
	require.NoError(t, m.Write(&b, pix))
	return b.Bytes()
}
