package dng

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/tiffdir"
)

// drawFile draws one of all the layouts that are read.
func drawFile(t *rapid.T) testFile {
	f := testFile{
		order:   rapid.SampledFrom([]tiffdir.ByteOrder{binary.LittleEndian, binary.BigEndian}).Draw(t, "order"),
		width:   rapid.IntRange(1, 20).Draw(t, "width"),
		height:  rapid.IntRange(1, 20).Draw(t, "height"),
		samples: rapid.IntRange(1, 4).Draw(t, "samples"),
		bits:    rapid.IntRange(8, 16).Draw(t, "bits"),
		rows:    rapid.IntRange(1, 25).Draw(t, "rows"),
		below:   rapid.Bool().Draw(t, "below"),

		previewLast:  rapid.Bool().Draw(t, "previewLast"),
		shortLengths: rapid.Bool().Draw(t, "shortLengths"),
		predictor:    rapid.IntRange(0, 7).Draw(t, "predictor"),
	}
	if rapid.Bool().Draw(t, "tiled") {
		f.tileWidth, f.tileHeight = rapid.IntRange(1, 12).Draw(t, "tileWidth"), rapid.IntRange(1, 12).Draw(t, "tileHeight")
	}
	if f.tileWidth > 0 && f.tileHeight%2 == 0 {
		f.rowsAsOne = rapid.IntRange(1, 2).Draw(t, "rowsAsOne")
	}
	w := f.width
	if f.tileWidth > 0 {
		w = f.tileWidth
	}
	var components []int
	for n := 1; n <= 4; n++ {
		if w*f.samples*max(f.rowsAsOne, 1)%n == 0 {
			components = append(components, n)
		}
	}
	f.components = rapid.SampledFrom(components).Draw(t, "components")
	f.pix = drawSamples(t, f.width*f.height*f.samples, f.bits)
	return f
}

func drawSamples(t *rapid.T, n, bits int) []uint16 {
	noise := rapid.IntRange(0, bits).Draw(t, "noise") // bits that change
	seed := rapid.Uint64().Draw(t, "seed")
	pix := make([]uint16, n)
	for i := range pix {
		seed = seed*6364136223846793005 + 1442695040888963407
		pix[i] = uint16((uint64(i) + seed>>(64-noise)) & (1<<bits - 1))
	}
	return pix
}

func TestReadsAllLayouts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt)
		data := f.build(t)
		require.True(rt, Is(bytes.NewReader(data), int64(len(data))))
		m := read(rt, data)
		require.Equal(rt, [5]int{f.width, f.height, f.samples, f.bits, 6}, [5]int{m.Width, m.Height, m.Samples, m.Bits, m.Orientation})
		require.Equal(rt, f.samples == 1, m.Mosaic)
		require.Equal(rt, [4]byte{1, 4, 0, 0}, m.Version)
		require.Equal(rt, f.pix, m.Pix)
		require.Equal(rt, uint16(1<<f.bits-1), m.Top)
		require.Equal(rt, data, write(rt, m, slices.Clone(m.Pix)), "the same samples are the same file")
	})
}

// After other samples are written, they are read, and nothing else has changed: neither bytes nor
// places.
func TestWritesSamplesAndNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt)
		data := f.build(t)
		m := read(rt, data)
		pix := slices.Clone(m.Pix)
		if rapid.Bool().Draw(rt, "one") {
			pix[rapid.IntRange(0, len(pix)-1).Draw(rt, "which")] ^= 1
		} else {
			pix = drawSamples(rt, len(pix), f.bits)
		}
		out := write(rt, m, pix)
		again := read(rt, out)
		require.Equal(rt, pix, again.Pix)
		require.Equal(rt, m.layout.lossless, again.layout.lossless)
		require.Equal(rt, [2]int{m.Bits, m.layout.blocks[0].frame.Predictor}, [2]int{again.Bits, again.layout.blocks[0].frame.Predictor})
		requireSameBut(rt, m, again, data, out)
		require.Equal(rt, out, write(rt, again, slices.Clone(pix)))
		require.Equal(rt, m.Pix, read(rt, write(rt, again, m.Pix)).Pix)
	})
}

// requireSameBut compares all bytes but those of the raw image, of its offsets and lengths, and of the
// digest, at their places.
func requireSameBut(t require.TestingT, before, after *Raw, data, out []byte) {
	mask := func(m *Raw, b []byte) []byte {
		b = bytes.Clone(b)
		for _, s := range m.layout.blocks {
			clear(b[s.offset : s.offset+s.length])
		}
		digest, ok := m.first.find(tagRawImageDigest)
		for _, f := range []tiffdir.Field{m.layout.offsets, m.layout.lengths, digest} {
			clear(b[f.Value : f.Value+f.Size])
		}
		if ok && !bytes.Equal(out, data) {
			require.Equal(t, make([]byte, 16), out[digest.Value:digest.Value+16])
		}
		return b
	}
	data, out = mask(before, data), mask(after, out)
	// What was free in the old file is zeros in the new one, and the other way round.
	n := min(len(data), len(out))
	require.Equal(t, data[:n], out[:n])
	require.Empty(t, bytes.Trim(data[n:], "\x00"))
	require.Empty(t, bytes.Trim(out[n:], "\x00"))
	require.Equal(t, before.all, after.all)
}

func TestWriteTakesTheOldRoom(t *testing.T) {
	flat := make([]uint16, 64*64)
	f := testFile{width: 64, height: 64, tileWidth: 16, tileHeight: 16, predictor: 1, components: 2, pix: ramp(64*64, 16), below: true, previewLast: true}
	data := f.build(t)
	m := read(t, data)
	out := write(t, m, flat)
	require.Len(t, out, len(data), "the preview and the directories stand behind the raw image")
	requireSameBut(t, m, read(t, out), data, out)
	for _, b := range read(t, out).layout.blocks {
		require.Zero(t, b.offset%2)
	}

	// And back: what has no room between the parts that stay goes to the end.
	grown := write(t, read(t, out), f.pix)
	require.Equal(t, f.pix, read(t, grown).Pix)
	require.Greater(t, len(grown), len(data))
	requireSameBut(t, read(t, out), read(t, grown), out, grown)
}

// A raw image at the end of the file can shrink and grow there.
func TestWriteAtTheEnd(t *testing.T) {
	f := testFile{width: 64, height: 64, predictor: 1, components: 2, pix: ramp(64*64, 16)}
	data := f.build(t)
	m := read(t, data)
	// Moves the strip behind everything else.
	b := m.layout.blocks[0]
	moved := append(bytes.Clone(data), make([]byte, len(data)%2)...)
	binary.LittleEndian.PutUint32(moved[m.layout.offsets.Value:], uint32(len(moved)))
	metadata := len(moved)
	moved = append(moved, data[b.offset:b.offset+b.length]...)

	out := write(t, read(t, moved), make([]uint16, 64*64))
	require.Less(t, len(out), metadata+2000)
	back := write(t, read(t, out), f.pix)
	require.Equal(t, f.pix, read(t, back).Pix)
	require.Len(t, back, len(moved))
}

// Lengths of 16 bits that become too small become lengths of 32.
func TestWriteLongerThanItsLengths(t *testing.T) {
	for _, tiles := range []int{1, 2, 3} {
		f := testFile{width: 256 * tiles, height: 256, tileWidth: 256, tileHeight: 256, predictor: 1, components: 2, shortLengths: true, pix: make([]uint16, 256*256*tiles)}
		m := read(t, f.build(t))
		pix := drawnOnce(len(f.pix))
		again := read(t, write(t, m, pix))
		require.Equal(t, pix, again.Pix)
		require.Equal(t, uint16(tiffdir.Long), again.layout.lengths.Kind)
	}
}

func drawnOnce(n int) []uint16 {
	pix := make([]uint16, n)
	for i := range pix {
		pix[i] = uint16((uint64(i)*6364136223846793005 + 1442695040888963407) >> 37)
	}
	return pix
}

func TestWriteRefusesOtherSamples(t *testing.T) {
	f := testFile{width: 4, height: 4, bits: 12, pix: ramp(16, 12)}
	m := read(t, f.build(t))
	require.ErrorIs(t, m.Write(io.Discard, m.Pix[1:]), imagefile.ErrInvalidImage)
	pix := slices.Clone(m.Pix)
	pix[3] = 4096
	require.ErrorIs(t, m.Write(io.Discard, pix), imagefile.ErrInvalidImage)
}

// filters are the fields of a pattern of colours.
func filters(rows, columns float64, colours ...float64) []testField {
	for len(colours) < int(rows*columns) {
		colours = append(colours, colours...)
	}
	return []testField{
		{tag: tagCFARepeatPatternDim, kind: tiffdir.Short, values: []float64{rows, columns}},
		{tag: tagCFAPattern, kind: tiffdir.Byte, values: colours[:int(rows*columns)]},
	}
}

// A Bayer pattern may be written more than once.
func TestRepeatedPattern(t *testing.T) {
	for _, fields := range [][]testField{
		filters(4, 4, 1, 2, 1, 2, 0, 1, 0, 1),
		filters(2, 4, 1, 2, 1, 2, 0, 1, 0, 1),
		filters(4, 2, 1, 2, 0, 1),
		filters(2, 2, 1, 2, 0, 1),
	} {
		f := testFile{width: 8, height: 6, pix: ramp(48, 16), image: fields}
		m := read(t, f.build(t))
		for y := range m.Height {
			for x := range m.Width {
				require.Equal(t, [2][2]Colour{{Green, Blue}, {Red, Green}}[y%2][x%2], m.Colour(x, y))
			}
		}
	}
}

func TestMosaic(t *testing.T) {
	for _, c := range []struct {
		pattern []float64
		want    [4]Colour
	}{
		{[]float64{0, 1, 1, 2}, [4]Colour{Red, Green, Green, Blue}},
		{[]float64{2, 1, 1, 0}, [4]Colour{Blue, Green, Green, Red}},
		{[]float64{1, 0, 2, 1}, [4]Colour{Green, Red, Blue, Green}},
		{[]float64{1, 2, 0, 1}, [4]Colour{Green, Blue, Red, Green}},
	} {
		f := testFile{width: 8, height: 6, pix: ramp(48, 16), image: []testField{
			{tag: tagCFAPattern, kind: tiffdir.Byte, values: c.pattern},
			{tag: tagActiveArea, kind: tiffdir.Short, values: []float64{1, 3, 6, 8}},
			{tag: tagMaskedAreas, kind: tiffdir.Long, values: []float64{0, 0, 6, 3, 0, 3, 1, 99, 7, 7, 9, 9}},
			{tag: tagNoiseProfile, kind: tiffdir.Double, values: []float64{1e-3, 1e-6, 2e-3, 1e-7, 3e-3, 1e-8}},
		}}
		m := read(t, f.build(t))
		require.Equal(t, image.Rect(3, 1, 8, 6), m.Active)
		require.Equal(t, []image.Rectangle{image.Rect(0, 0, 3, 6), image.Rect(3, 0, 8, 1)}, m.Masked)
		require.Equal(t, [][2]float64{{1e-3, 1e-6}, {2e-3, 1e-7}, {3e-3, 1e-8}}, m.Noise)
		for y := range m.Height {
			for x := range m.Width {
				require.Equal(t, c.want[(y+1)%2*2+(x+1)%2], m.Colour(x, y))
			}
		}
	}
}

func TestLevels(t *testing.T) {
	f := testFile{width: 5, height: 4, bits: 8, pix: ramp(20, 8), image: []testField{
		{tag: tagActiveArea, kind: tiffdir.Short, values: []float64{1, 1, 4, 5}},
		{tag: tagBlackLevelRepeatDim, kind: tiffdir.Short, values: []float64{2, 2}},
		{tag: tagBlackLevel, kind: tiffdir.Rational, values: []float64{64, 64.25, 64.5, 64.75}},
		{tag: tagBlackLevelDeltaH, kind: tiffdir.SRational, values: []float64{0, -1, 2, 3}},
		{tag: tagBlackLevelDeltaV, kind: tiffdir.SRational, values: []float64{10, 20, -30}},
		{tag: tagWhiteLevel, kind: tiffdir.Short, values: []float64{1000}},
		{tag: tagLinearizationTable, kind: tiffdir.Short, values: []float64{64, 65, 65, 70, 80, 1000}},
	}}
	m := read(t, f.build(t))
	require.Equal(t, []float64{1000}, m.Levels.White)
	require.Equal(t, []float64{1000 - 64.75 - 3 - 20}, m.Levels.Span, "of the highest level of black")
	for _, c := range []struct {
		x, y int
		want float64
	}{{1, 1, 74}, {2, 1, 64.25 - 1 + 10}, {1, 2, 64.5 + 20}, {4, 3, 64.25 + 3 - 30}, {0, 0, 64.75 + 10}, {0, 3, 64.25 - 30}} {
		require.InDelta(t, c.want, m.Black(c.x, c.y, 0), 1e-9, c)
	}
	l := &m.Levels
	require.Equal(t, 70., l.Linear(3))
	require.Equal(t, 1000., l.Linear(200))
	for value, want := range map[float64]uint16{-5: 0, 64.4: 0, 65: 1, 67: 2, 68: 3, 74.9: 3, 75.1: 4, 541: 5, 5000: 5} {
		require.Equal(t, want, l.Stored(value, m.Top), value)
	}

	f = testFile{width: 2, height: 2, samples: 3, bits: 12, pix: ramp(12, 12), image: []testField{
		{tag: tagBlackLevel, kind: tiffdir.Short, values: []float64{1, 2, 3}},
	}}
	m = read(t, f.build(t))
	require.Equal(t, []float64{4095, 4095, 4095}, m.Levels.White)
	require.Equal(t, []float64{4094, 4093, 4092}, m.Levels.Span)
	require.Equal(t, [3]float64{1, 2, 3}, [3]float64{m.Black(1, 1, 0), m.Black(1, 1, 1), m.Black(1, 1, 2)})
	require.Equal(t, [4]uint16{0, 7, 8, 4095}, [4]uint16{m.Levels.Stored(-1, 4095), m.Levels.Stored(7.4, 4095), m.Levels.Stored(7.5, 4095), m.Levels.Stored(1e9, 4095)})
}

// Stored undoes Linear as far as a table can be undone.
func TestStoredUndoesLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SliceOfN(rapid.Uint16(), 1, 40).Draw(t, "table")
		slices.Sort(table)
		l := Levels{Table: table}
		v := uint16(rapid.IntRange(0, len(table)-1).Draw(t, "v"))
		require.Equal(t, l.Linear(v), l.Linear(l.Stored(l.Linear(v), math.MaxUint16)))
		x := rapid.Float64Range(-10, 70000).Draw(t, "x")
		best := math.Abs(l.Linear(l.Stored(x, math.MaxUint16)) - x)
		for _, w := range table {
			require.LessOrEqual(t, best, math.Abs(float64(w)-x))
		}
	})
}

// What is not read is named.
func TestRefusals(t *testing.T) {
	number := func(tag uint16, v ...float64) testField { return testField{tag: tag, kind: tiffdir.Long, values: v} }
	base := testFile{width: 8, height: 8, pix: ramp(64, 16)}
	for _, c := range []struct {
		err    error
		text   string
		change func(*testFile)
	}{
		{imagefile.ErrUnsupported, "52546 (JPEG XL)", func(f *testFile) { f.image = []testField{number(tiffdir.TagCompression, 52546)} }},
		{imagefile.ErrUnsupported, "34892 (lossy JPEG)", func(f *testFile) { f.image = []testField{number(tiffdir.TagCompression, 34892)} }},
		{imagefile.ErrUnsupported, "8 (deflate)", func(f *testFile) { f.image = []testField{number(tiffdir.TagCompression, 8)} }},
		{imagefile.ErrUnsupported, "6×6 colour filters, as X-Trans", func(f *testFile) { f.image = filters(6, 6, 1, 1, 0, 1, 1, 2) }},
		{imagefile.ErrUnsupported, "4×4 colour filters, as quad Bayer", func(f *testFile) { f.image = filters(4, 4, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2) }},
		{imagefile.ErrUnsupported, "2×4 colour filters", func(f *testFile) { f.image = filters(2, 4, 0, 1, 2, 1, 1, 2, 1, 0) }},
		{imagefile.ErrUnsupported, "1×2 colour filters", func(f *testFile) { f.image = filters(1, 2, 0, 1) }},
		{imagefile.ErrMalformed, "4×4 colour filters with 4 colours", func(f *testFile) { f.image = filters(4, 4, 1)[:1] }},
		{imagefile.ErrUnsupported, "pattern [0 0 1 2]", func(f *testFile) { f.image = []testField{number(tagCFAPattern, 0, 0, 1, 2)} }},
		{imagefile.ErrUnsupported, "colour filters [3 4 5]", func(f *testFile) { f.image = []testField{number(tagCFAPlaneColor, 3, 4, 5)} }},
		{imagefile.ErrUnsupported, "layout 2", func(f *testFile) { f.image = []testField{number(tagCFALayout, 2)} }},
		{imagefile.ErrUnsupported, "floating-point", func(f *testFile) { f.image = []testField{number(tiffdir.TagSampleFormat, 3)} }},
		{imagefile.ErrUnsupported, "sample format 2", func(f *testFile) { f.image = []testField{number(tiffdir.TagSampleFormat, 2)} }},
		{imagefile.ErrUnsupported, "32 bits", func(f *testFile) { f.image = []testField{number(tiffdir.TagBitsPerSample, 32)} }},
		{imagefile.ErrUnsupported, "planar configuration 2", func(f *testFile) {
			f.samples, f.pix, f.image = 3, ramp(192, 16), []testField{number(tiffdir.TagPlanar, 2)}
		}},
		{imagefile.ErrUnsupported, "5 samples", func(f *testFile) { f.image = []testField{number(tiffdir.TagSamplesPerPixel, 5)} }},
		{imagefile.ErrUnsupported, "mosaic of 2 samples", func(f *testFile) { f.image = []testField{number(tiffdir.TagSamplesPerPixel, 2)} }},
		{imagefile.ErrUnsupported, "2 interleaved fields", func(f *testFile) { f.image = []testField{number(tagRowInterleaveFactor, 2)} }},
		{imagefile.ErrUnsupported, "version 1.0", func(f *testFile) { f.first = []testField{number(tiffdir.TagDNGVersion, 1, 0, 0, 0)} }},
		{imagefile.ErrUnsupported, "increasing", func(f *testFile) { f.image = []testField{number(tagLinearizationTable, 3, 2)} }},
		{imagefile.ErrMalformed, "no DNGVersion", func(f *testFile) { f.first = []testField{{tag: tiffdir.TagDNGVersion}} }},
		{imagefile.ErrMalformed, "no raw image", func(f *testFile) { f.image = []testField{number(tiffdir.TagPhotometric, 2)} }},
		{imagefile.ErrMalformed, "no raw image", func(f *testFile) { f.image = []testField{number(tagNewSubFileType, 1)} }},
		{imagefile.ErrMalformed, "0×8", func(f *testFile) { f.image = []testField{number(tiffdir.TagImageWidth, 0)} }},
		{imagefile.ErrTooManyPixels, "more than the limit", func(f *testFile) { f.image = []testField{number(tiffdir.TagImageWidth, 1<<31)} }},
		{imagefile.ErrMalformed, "ends early", func(f *testFile) {
			f.image = []testField{number(tiffdir.TagImageWidth, 1<<14), number(tiffdir.TagImageLength, 1<<14)}
		}},
		{imagefile.ErrMalformed, "strips of 0 rows", func(f *testFile) { f.image = []testField{number(tiffdir.TagRowsPerStrip, 0)} }},
		{imagefile.ErrMalformed, "tiles of 0×4", func(f *testFile) {
			f.image = []testField{number(tiffdir.TagTileWidth, 0), number(tiffdir.TagTileLength, 4)}
		}},
		{imagefile.ErrMalformed, "4 strips or tiles with 1 places", func(f *testFile) { f.image = []testField{number(tiffdir.TagRowsPerStrip, 2)} }},
		{imagefile.ErrMalformed, "lacks 16 bytes", func(f *testFile) { // where a directory stands
			f.image = []testField{number(tiffdir.TagImageLength, 9), number(tiffdir.TagRowsPerStrip, 9)}
		}},
		{imagefile.ErrMalformed, "lacks 1 bytes", func(f *testFile) { // where the next strip stands
			f.rows, f.image = 4, []testField{number(tiffdir.TagStripByteCounts, 64, 64), number(tiffdir.TagStripOffsets, 8, 8+63)}
			f.image[0].values[0] = 63
		}},
		{imagefile.ErrMalformed, "ends early", func(f *testFile) { f.image = []testField{number(tiffdir.TagStripOffsets, 1<<31)} }},
		{imagefile.ErrMalformed, "black level", func(f *testFile) { f.image = []testField{number(tagBlackLevel, 70000)} }},
		{imagefile.ErrMalformed, "black level 65540", func(f *testFile) {
			f.image = []testField{number(tagBlackLevelDeltaH, 0, 0, 0, 65540, 0, 0, 0, 0)}
		}},
		{imagefile.ErrMalformed, "3 black levels", func(f *testFile) { f.image = []testField{number(tagBlackLevel, 1, 2, 3)} }},
		{imagefile.ErrMalformed, "2 differences", func(f *testFile) { f.image = []testField{number(tagBlackLevelDeltaH, 1, 2)} }},
		{imagefile.ErrMalformed, "active area", func(f *testFile) { f.image = []testField{number(tagActiveArea, 4, 4, 2, 2)} }},
		{imagefile.ErrMalformed, "lossless JPEG", func(f *testFile) { f.image = []testField{number(tiffdir.TagCompression, 7)} }},
		{imagefile.ErrMalformed, "more than 9 bits", func(f *testFile) { f.predictor, f.image = 1, []testField{number(tiffdir.TagBitsPerSample, 9)} }},
		{imagefile.ErrMalformed, "holds JPEG of 8×8", func(f *testFile) {
			f.predictor, f.image = 1, []testField{number(tiffdir.TagImageWidth, 9)}
		}},
	} {
		f := base
		c.change(&f)
		data := f.build(t)
		m, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
		require.ErrorIs(t, err, c.err, c.text)
		require.ErrorContains(t, err, c.text)
		require.Nil(t, m)
	}
	for text, data := range map[string]string{
		"BigTIFF": "II+\x00\x08\x00\x00\x00", "TIFF header": "\x89PNG\r\n\x1a\n", "ends early": "II*\x00\xff\xff\xff\x00",
	} {
		require.False(t, Is(bytes.NewReader([]byte(data)), int64(len(data))))
		_, err := Read(bytes.NewReader([]byte(data)), int64(len(data)), Options{})
		require.ErrorContains(t, err, text)
	}
	// A lossy JPEG in place of a lossless one.
	f := base
	f.predictor = 1
	data := f.build(t)
	data[bytes.Index(data, []byte{0xFF, 0xC3})+1] = 0xC0
	_, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
	require.ErrorIs(t, err, imagefile.ErrUnsupported)
	require.ErrorContains(t, err, "lossy JPEG")
}

// JPEG of larger tiles than the file says: what is too much is left out.
func TestLargerFramesThanTiles(t *testing.T) {
	f := testFile{width: 8, height: 8, tileWidth: 8, tileHeight: 8, predictor: 1, components: 2, pix: ramp(64, 16)}
	f.image = []testField{
		{tag: tiffdir.TagImageWidth, kind: tiffdir.Long, values: []float64{6}}, {tag: tiffdir.TagImageLength, kind: tiffdir.Long, values: []float64{7}},
		{tag: tiffdir.TagTileWidth, kind: tiffdir.Long, values: []float64{6}}, {tag: tiffdir.TagTileLength, kind: tiffdir.Long, values: []float64{7}},
	}
	m := read(t, f.build(t))
	for y := range 7 {
		require.Equal(t, f.pix[8*y:8*y+6], m.Pix[6*y:6*y+6])
	}
	pix := slices.Clone(m.Pix)
	pix[5] ^= 3
	require.Equal(t, pix, read(t, write(t, m, pix)).Pix)
}

// A reader that fails is not a file that is broken.
func TestErrorsOfTheDisk(t *testing.T) {
	f := testFile{width: 8, height: 8, pix: ramp(64, 16)}
	data := f.build(t)
	for at := range int64(len(data)) {
		_, err := Read(failing{bytes.NewReader(data), at}, int64(len(data)), Options{})
		if err != nil {
			require.ErrorIs(t, err, io.ErrClosedPipe)
		}
	}
}

// failing fails where a byte is read.
type failing struct {
	io.ReaderAt
	at int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, io.ErrClosedPipe
	}
	return f.ReaderAt.ReadAt(p, off)
}

func FuzzRead(f *testing.F) {
	for i, seed := range []testFile{
		{width: 6, height: 4, bits: 12},
		{width: 5, height: 7, bits: 14, predictor: 6, tileWidth: 4, tileHeight: 4, components: 2, rowsAsOne: 2, below: true},
		{width: 5, height: 3, samples: 3, predictor: 1, components: 3, rows: 2, order: binary.BigEndian, shortLengths: true},
		{width: 4, height: 4, bits: 8, below: true, previewLast: true, image: []testField{
			{tag: tagLinearizationTable, kind: tiffdir.Short, values: []float64{0, 1, 4, 9, 16}},
			{tag: tagBlackLevelRepeatDim, kind: tiffdir.Short, values: []float64{2, 2}},
			{tag: tagBlackLevel, kind: tiffdir.Rational, values: []float64{1, 2, 3, 4}},
			{tag: tagBlackLevelDeltaV, kind: tiffdir.SRational, values: []float64{1, 2, -3, 4}},
			{tag: tagActiveArea, kind: tiffdir.Short, values: []float64{0, 0, 4, 4}},
			{tag: tagMaskedAreas, kind: tiffdir.Short, values: []float64{0, 0, 1, 4}},
			{tag: tagNoiseProfile, kind: tiffdir.Double, values: []float64{1e-3, 1e-6}},
		}},
	} {
		seed.pix = ramp(seed.width*seed.height*max(seed.samples, 1), []int{12, 14, 16, 8}[i])
		f.Add(seed.build(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), int64(len(data)), Options{MaxPixels: 1 << 20})
		if err != nil {
			require.Nil(t, m)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.LessOrEqual(t, len(m.Pix), 8*len(data))
		require.Equal(t, data, write(t, m, slices.Clone(m.Pix)))
		for _, v := range m.Pix[:1] {
			require.False(t, math.IsNaN(m.Levels.Linear(v)-m.Black(0, 0, 0)))
			require.LessOrEqual(t, m.Levels.Stored(m.Levels.Linear(v), m.Top), m.Top)
		}
		pix := slices.Clone(m.Pix)
		for i := range pix {
			pix[i] = min(pix[i]^1, m.Top)
		}
		var out bytes.Buffer
		if err := m.Write(&out, pix); err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Equal(t, pix, read(t, out.Bytes()).Pix)
	})
}

// A small file would otherwise hold any number of pixels to decode.
func TestTilesThatShareBytes(t *testing.T) {
	f := testFile{width: 16, height: 8, tileWidth: 8, tileHeight: 8, predictor: 1, pix: ramp(128, 16)}
	data := f.build(t)
	m := read(t, data)
	first, length := m.layout.blocks[0].offset, int64(len(data))-m.layout.blocks[0].offset
	f.image = []testField{
		{tag: tiffdir.TagTileOffsets, kind: tiffdir.Long, values: []float64{float64(first), float64(first)}},
		{tag: tiffdir.TagTileByteCounts, kind: tiffdir.Long, values: []float64{float64(length), float64(length)}},
	}
	data = f.build(t)
	_, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
	require.ErrorIs(t, err, imagefile.ErrMalformed)
	require.ErrorContains(t, err, "share bytes")
}

// Some drones give strips a length that is too small (rawspeed issue 371). It becomes right when the raw image is written.
func TestLengthsThatAreTooSmall(t *testing.T) {
	f := testFile{width: 16, height: 8, rows: 4, below: true, previewLast: true, pix: ramp(128, 16)}
	f.image = []testField{{tag: tiffdir.TagStripByteCounts, kind: tiffdir.Long, values: []float64{128, 100}}}
	data := f.build(t)
	m := read(t, data)
	require.Equal(t, f.pix, m.Pix)
	require.Equal(t, data, write(t, m, slices.Clone(m.Pix)), "the same samples are the same file")
	pix := slices.Clone(m.Pix)
	pix[127] ^= 1
	again := read(t, write(t, m, pix))
	require.Equal(t, pix, again.Pix)
	lengths, err := again.integers(again.image, tiffdir.TagStripByteCounts)
	require.NoError(t, err)
	require.Equal(t, []uint32{128, 128}, lengths)
}
