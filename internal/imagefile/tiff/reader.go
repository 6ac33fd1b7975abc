// Package tiff reads TIFF, BigTIFF included, in the codings that programs write, and writes it with deflate.
package tiff

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
)

// Tags that tell how samples are stored, beside those of package tiffdir.
const (
	tagT4Options    = 292
	tagColorMap     = 320
	tagExtraSamples = 338
	tagJPEGTables   = 347
	tagXMP          = 700
	tagICC          = 34675

	tagYCbCrCoefficients   = 529
	tagYCbCrSubsampling    = 530
	tagReferenceBlackWhite = 532
)

// What their values mean.
const (
	photometricWhiteIsZero = 0
	photometricBlackIsZero = 1
	photometricRGB         = 2
	photometricPalette     = 3
	photometricCMYK        = 5
	photometricYCbCr       = 6
	photometricCIELab      = 8
	photometricICCLab      = 9
	photometricMosaic      = 32803 // "CFA" in TIFF/EP (ISO 12234-2)
	photometricLinearRaw   = 34892

	predictorNone       = 1
	predictorHorizontal = 2
	predictorFloat      = 3

	extraUnspecified  = 0
	extraAssociated   = 1
	extraUnassociated = 2

	formatUnsigned = 1
	formatSigned   = 2
	formatFloat    = 3
	formatUnknown  = 4
)

// Photoshop writes colour with further channels. The bits of a pixel bound the memory of a row.
const (
	maxSamples   = 40
	maxPixelBits = 5 * 64
)

// colourModels names those that are not read.
var colourModels = map[uint32]string{
	4: "transparency mask", 10: "ITU Lab",
	photometricMosaic: "colour filter array of a raw photograph", 32844: "LogL", 32845: "LogLuv", photometricLinearRaw: "linear raw",
}

// decoder reads the samples of the first directory. x/image/tiff has no grey
// with alpha, no float samples, no planes, reads 4-bit samples as an error and
// planes as noise; only its LZW decompressor is used here.
type decoder struct {
	tiffdir.Tree
	src    *source.Source
	fields []tiffdir.Field

	width, height  int
	bits, samples  int
	float          bool
	signed         bool // integers that are kept as floats, as counts are
	photometric    uint32
	guessed        bool // for the file does not say it
	compression    uint32
	predictor      uint32
	lowBitFirst    bool
	planar         bool
	colours        int // samples of colour, before those of alpha and others
	alpha          int // place of the opacity among the samples, or -1
	alphaKind      int64
	palette        [3][]float32
	options        uint32 // of CCITT compression
	jpegTables     []byte
	old            oldJPEG
	chroma         chromaShare
	blockW, blockH int
	tiled          bool
	offsets        []int64
	counts         []int64
	packed         int64 // bytes that strips and tiles may still take, all together
	unpacking
}

// maxSubIFDs is how many subdirectories are looked at.
const maxSubIFDs = 16

// ErrRaw: a raw photograph (DNG), whose picture is yet to be developed. It is an ErrUnsupported.
var ErrRaw = fmt.Errorf("%w: it is a raw photograph (DNG), of which a picture is yet to be developed", format.ErrUnsupported)

// errMakersRaw is about a raw photograph that is no DNG.
var errMakersRaw = fmt.Errorf("%w: it is a raw photograph in a format of the camera's maker; convert it to DNG, or develop it to a TIFF or PNG", format.ErrUnsupported)

// hasMosaic tells whether a file is a raw photograph in a format of its camera's maker that is a TIFF: CR2 and IIQ, which have a
// mark after the header, or NEF, ARW, SRW and others, whose mosaic is in a subdirectory. Their first picture is a small preview.
func hasMosaic(t tiffdir.Tree, src *source.Source, first int64, fields []tiffdir.Field) bool {
	if mark, err := src.Bytes(8, 8); err == nil && (string(mark[:2]) == "CR" && first == 16 || string(mark[:4]) == "IIII" && string(mark[5:]) == "waR") {
		return true
	}
	f, _ := tiffdir.Find(fields, tiffdir.TagSubIFDs)
	offsets, err := t.Uints(f.First(maxSubIFDs))
	if err != nil {
		return false // There is none, or it leads nowhere.
	}
	for _, offset := range offsets {
		sub, _, err := t.Directory(offset)
		if err != nil {
			continue
		}
		if model, err := t.Uint(sub, tiffdir.TagPhotometric, 0); err == nil && (model == photometricMosaic || model == photometricLinearRaw) {
			return true
		}
	}
	return false
}

// Decode reads the first page. Its samples may be infinite or not a number.
func Decode(src *source.Source) (*picture.Image, error) {
	t, first, err := tiffdir.Open(src)
	if err != nil {
		return nil, malformed("%v", err)
	}
	fields, next, err := t.Directory(first)
	if err != nil {
		return nil, malformed("%v (a truncated file?)", err)
	}
	if _, found := tiffdir.Find(fields, tiffdir.TagDNGVersion); found {
		return nil, ErrRaw // What stands in the first directory of most is a preview.
	}
	if hasMosaic(t, src, first, fields) {
		return nil, errMakersRaw
	}
	d := &decoder{Tree: t, src: src, fields: fields}
	if err := d.readSize(); err != nil {
		return nil, err
	}
	if err := d.readSampleLayout(); err != nil {
		return nil, err
	}
	if err := d.readBlockLayout(); err != nil {
		return nil, err
	}
	if err := d.readJPEGTables(); err != nil {
		return nil, err
	}
	m := picture.New(d.width, d.height, d.channels(), 8, d.alpha >= 0)
	switch {
	case d.float, d.signed:
		m.Depth = 32
	case d.photometric == photometricPalette:
		m.Depth = d.paletteDepth()
	case d.bits > 8:
		m.Depth = 16
	}
	if d.bits == 64 {
		m.Warn("64-bit float samples are rounded to 32 bits")
	}
	m.SourceDepth = d.bits
	read := d.readBlocks
	if d.photometric == photometricYCbCr {
		read = d.readYCbCr
	}
	if err := read(m); err != nil {
		return nil, err
	}
	if d.float && m.Alpha != nil {
		m.Warn("float alpha is rounded to 16 bits")
	}
	if d.alpha >= 0 && d.alphaKind == extraUnspecified {
		m.Warn("the extra channel has no stated meaning and is taken for alpha")
	}
	further := d.samples - d.colours
	if d.alpha >= 0 {
		further--
	}
	if further > 0 {
		m.Warn("channels besides colour and alpha are dropped: %d", further)
	}
	if d.guessed {
		m.Warn("no colour model is stated: its three samples are taken for RGB")
	}
	if d.leavesPages(next) {
		m.Warn("only the first of several pages is read")
	}
	return m, d.readMetadata(m)
}

// leavesPages tells whether there are more pages than the first, and then drops a description of all of them.
func (d *decoder) leavesPages(next int64) bool {
	f, _ := tiffdir.Find(d.fields, tiffdir.TagImageDescription)
	text, _ := d.src.Bytes(f.Value, min(f.Size, metadata.MaxSize)) // outside of the file it is none
	further := next != 0 || metadata.StackOfImageJ(text)
	if further && metadata.DescribesShape(text) {
		d.fields = slices.DeleteFunc(d.fields, func(f tiffdir.Field) bool { return f.Tag == tiffdir.TagImageDescription })
	}
	return further
}

func malformed(text string, args ...any) error { return format.Malformed(format.TIFF, text, args...) }

func unsupported(text string, args ...any) error {
	return fmt.Errorf("%w: TIFF with %s", format.ErrUnsupported, fmt.Sprintf(text, args...))
}

func (d *decoder) readSize() error {
	w, err := d.Uint(d.fields, tiffdir.TagImageWidth, 0)
	if err != nil {
		return malformed("%v", err)
	}
	h, err := d.Uint(d.fields, tiffdir.TagImageLength, 0)
	if err != nil {
		return malformed("%v", err)
	}
	d.width, d.height = int(min(uint64(w), math.MaxInt)), int(min(uint64(h), math.MaxInt))
	return d.src.CheckSize(format.TIFF, d.width, d.height)
}

// readSampleLayout reads what a sample is and which of them make a pixel.
func (d *decoder) readSampleLayout() error {
	var samples, planar, order, kind uint32
	for _, v := range []struct {
		tag       uint16
		otherwise uint32
		to        *uint32
	}{
		{tiffdir.TagSamplesPerPixel, 1, &samples},
		{tiffdir.TagPhotometric, photometricBlackIsZero, &d.photometric},
		{tiffdir.TagCompression, compressionNone, &d.compression},
		{tiffdir.TagPredictor, predictorNone, &d.predictor},
		{tiffdir.TagPlanar, 1, &planar},
		{tiffdir.TagFillOrder, 1, &order},
		{tiffdir.TagSampleFormat, formatUnsigned, &kind},
		{tagT4Options, 0, &d.options},
	} {
		var err error
		if *v.to, err = d.Uint(d.fields, v.tag, v.otherwise); err != nil {
			return malformed("%v", err)
		}
	}
	if samples < 1 || samples > maxSamples {
		return unsupported("%d samples per pixel (1 to %d are read)", samples, maxSamples)
	}
	if _, stated := tiffdir.Find(d.fields, tiffdir.TagPhotometric); !stated && samples == 3 {
		d.photometric, d.guessed = photometricRGB, true
	}
	if d.oldJPEG() && d.photometric != photometricBlackIsZero && (samples == 1 || samples == 3) {
		d.photometric, samples = photometricYCbCr, 3 // whatever writers say
	}
	d.samples = int(samples)
	d.planar = planar == 2
	d.lowBitFirst = order == 2
	d.float = kind == formatFloat
	d.signed = kind == formatSigned && !d.lab()
	if name := colourModels[d.photometric]; name != "" {
		return unsupported("colour model %d (%s) (save it as RGB)", d.photometric, name)
	}
	if d.signed && d.photometric != photometricBlackIsZero && d.photometric != photometricRGB {
		return unsupported("signed integers in colour model %d (they are read in grey from black to white and in RGB)", d.photometric)
	}
	if kind == 0 || kind > formatUnknown {
		name := map[uint32]string{5: "complex integers", 6: "complex numbers"}[kind]
		if name == "" {
			name = fmt.Sprintf("sample format %d", kind)
		}
		return unsupported("%s (save it as unsigned integers or floats)", name)
	}
	if err := d.readBits(); err != nil {
		return err
	}
	return d.readColour()
}

func (d *decoder) readBits() error {
	bits := []int64{1}
	if f, ok := tiffdir.Find(d.fields, tiffdir.TagBitsPerSample); ok {
		if f.Count == 0 || f.Count > 16 {
			return malformed("%d values for the bits per sample", f.Count)
		}
		var err error
		if bits, err = d.Uints(f); err != nil {
			return malformed("%v", err)
		}
		// Some writers give one number for all samples, others too many.
		bits = bits[:min(len(bits), d.samples)]
	}
	if slices.Min(bits) != slices.Max(bits) {
		return unsupported("samples of different depths, %v", bits)
	}
	d.bits = int(min(bits[0], 1000))
	if d.float && d.bits != 16 && d.bits != 32 && d.bits != 64 {
		return unsupported("floats of %d bits (save it with 16, 32 or 64)", bits[0])
	}
	if d.signed && d.bits != 8 && d.bits != 16 {
		return unsupported("signed integers of %d bits (8 and 16 are read; save it as floats)", bits[0])
	}
	if d.lab() && (d.float || d.bits != 8 && d.bits != 16) {
		return unsupported("CIELab of %d bits per sample (integers of 8 and 16 are read; save it as RGB)", bits[0])
	}
	if !d.float && (d.bits < 1 || d.bits > 16) {
		return unsupported("integers of %d bits (1 to 16 are read; save it with 16 bits or as floats)", bits[0])
	}
	return nil
}

func (d *decoder) readColour() error {
	colours := 0
	switch d.photometric {
	case photometricWhiteIsZero, photometricBlackIsZero:
		colours = 1
	case photometricRGB, photometricCIELab, photometricICCLab:
		colours = 3
	case photometricCMYK:
		colours = 4
	case photometricYCbCr:
		colours = 3
		if d.bits != 8 || d.samples != colours {
			return unsupported("luma and chroma as %d samples of %d bits (3 of 8 are read; save it as RGB)", d.samples, d.bits)
		}
	case photometricPalette:
		colours = 1
		if d.float {
			return unsupported("a palette and floats (save it as RGB)")
		}
		if err := d.readPalette(); err != nil {
			return err
		}
	default:
		return unsupported("colour model %d (save it as RGB)", d.photometric)
	}
	d.colours = colours
	if err := d.readExtra(); err != nil {
		return err
	}
	switch {
	case d.predictor == predictorNone,
		d.predictor == predictorHorizontal && d.bits%8 == 0,
		d.predictor == predictorFloat && d.float:
		return nil
	}
	return unsupported("predictor %d and %d bits per sample", d.predictor, d.bits)
}

// readExtra finds the sample for alpha among those behind the colours. A grey image has no others: that would be one of
// several bands.
func (d *decoder) readExtra() error {
	d.alpha = -1
	extra := d.samples - d.colours
	if d.samples*d.bits > maxPixelBits {
		return unsupported("%d samples of %d bits per pixel (up to %d bits together are read)", d.samples, d.bits, maxPixelBits)
	}
	if extra < 0 || extra > 1 && d.colours < 3 {
		return unsupported("%d samples per pixel in colour model %d (%d, and one for alpha, are read)", d.samples, d.photometric, d.colours)
	}
	kinds := make([]int64, extra) // extraUnspecified
	if f, ok := tiffdir.Find(d.fields, tagExtraSamples); ok && f.Count <= maxSamples {
		if stated, err := d.Uints(f); err == nil {
			copy(kinds, stated)
		}
	}
	for i, kind := range kinds {
		if kind != extraUnspecified || extra == 1 {
			d.alpha, d.alphaKind = d.colours+i, kind
			break
		}
	}
	if d.alpha >= 0 && (d.signed || d.alphaKind == extraAssociated && d.lab()) {
		return unsupported("signed integers or CIELab, and a sample for alpha (save it without)")
	}
	return nil
}

func (d *decoder) readPalette() error {
	f, ok := tiffdir.Find(d.fields, tagColorMap)
	n := 1 << d.bits
	if !ok || f.Kind != tiffdir.Short || f.Count != uint32(3*n) {
		return malformed("a palette of %d-bit samples needs a colour map of %d numbers", d.bits, 3*n)
	}
	v, err := d.Uints(f)
	if err != nil {
		return malformed("%v", err)
	}
	// Some writers filled in 8-bit values.
	scale := int64(1)
	if slices.Max(v) < 256 {
		scale = 257
	}
	for c := range d.palette {
		d.palette[c] = make([]float32, n)
		for i := range n {
			d.palette[c][i] = samples.Unit16(uint16(v[c*n+i] * scale))
		}
	}
	return nil
}

// paletteDepth is 8 if all colours are 8-bit ones.
func (d *decoder) paletteDepth() int {
	for _, c := range d.palette {
		for _, v := range c {
			if samples.Quantise(v, 65535)%257 != 0 {
				return 16
			}
		}
	}
	return 8
}

func (d *decoder) channels() int {
	switch d.photometric {
	case photometricRGB, photometricCMYK, photometricYCbCr, photometricCIELab, photometricICCLab:
		return 3
	case photometricPalette:
		_, profile := tiffdir.Find(d.fields, tagICC)
		if profile || !slices.Equal(d.palette[0], d.palette[1]) || !slices.Equal(d.palette[0], d.palette[2]) {
			return 3
		}
	}
	return 1
}

// readBlockLayout reads where the strips or tiles are.
func (d *decoder) readBlockLayout() error {
	offsets, counts := uint16(tiffdir.TagStripOffsets), uint16(tiffdir.TagStripByteCounts)
	if _, d.tiled = tiffdir.Find(d.fields, tiffdir.TagTileWidth); d.tiled {
		// Some old writers list tiles under the tags of strips.
		if _, ok := tiffdir.Find(d.fields, tiffdir.TagTileOffsets); ok {
			offsets, counts = tiffdir.TagTileOffsets, tiffdir.TagTileByteCounts
		}
		for tag, to := range map[uint16]*int{tiffdir.TagTileWidth: &d.blockW, tiffdir.TagTileLength: &d.blockH} {
			v, err := d.Uint(d.fields, tag, 0)
			if err != nil {
				return malformed("%v", err)
			}
			*to = int(v)
		}
		// Padding belongs to no pixel of the image, but is decoded all the same.
		largest := max(source.DefaultMaxPixels, 4*int64(d.width)*int64(d.height))
		if d.blockW < 1 || d.blockH < 1 || int64(d.across())*int64(d.blockW) > largest/(int64(d.down())*int64(d.blockH)) {
			return malformed("tiles of %d×%d in an image of %d×%d", d.blockW, d.blockH, d.width, d.height)
		}
	} else {
		rows, err := d.Uint(d.fields, tiffdir.TagRowsPerStrip, math.MaxUint32)
		if err != nil {
			return malformed("%v", err)
		}
		d.blockW, d.blockH = d.width, int(min(int64(rows), int64(d.height)))
		if d.blockH == 0 {
			return malformed("strips of 0 rows")
		}
	}
	if d.claimsTooMuch() {
		return format.Truncated(format.TIFF)
	}
	blocks := d.across() * d.down()
	if d.planar {
		blocks *= d.samples
	}
	// The worst codings take eight bits for one. JPEG is opened twice, and may hold metadata.
	d.packed = 8*rawBytes(d, d.across()*d.blockW, d.down()*d.blockH) + 2*d.src.Available() + metadata.MaxSize
	var err error
	if d.offsets, err = d.blockField(offsets, blocks); err != nil {
		return err
	}
	if _, ok := tiffdir.Find(d.fields, counts); !ok {
		d.counts = betweenOffsets(d.offsets) // Old writers left it out.
		return nil
	}
	d.counts, err = d.blockField(counts, blocks)
	return err
}

// claimsTooMuch tells whether the file is too short for its pixels, however well
// they are packed, so that no room is made for them. Deflate expands 1032 times
// at most, LZW, on a constant image, about 1340 times, runs 64 times; fax coding
// needs a bit per row.
func (d *decoder) claimsTooMuch() bool {
	raw := rawBytes(d, d.width, d.height)
	if d.photometric == photometricYCbCr {
		raw /= 3 // chroma may have few samples
	}
	switch d.compression {
	case 0, compressionNone:
		return !d.src.Has(raw)
	case compressionHuffman, compressionHuffmanWords, compressionGroup3, compressionGroup4:
		return !d.src.Has(int64(d.height) / 8)
	}
	const maxExpansion = 2000
	return !d.src.Has(raw / maxExpansion)
}

// betweenOffsets returns as how many bytes of each block to take those in front of the next one.
func betweenOffsets(offsets []int64) []int64 {
	sorted := append(slices.Sorted(slices.Values(offsets)), math.MaxInt64)
	counts := make([]int64, len(offsets))
	for i, offset := range offsets {
		next, _ := slices.BinarySearch(sorted, offset+1)
		counts[i] = sorted[next] - offset
	}
	return counts
}

// rawBytes is the bytes of so many pixels, unpacked.
func rawBytes(d *decoder, width, height int) int64 {
	return (int64(width)*int64(d.samples)*int64(d.bits) + 7) / 8 * int64(height)
}

func (d *decoder) across() int { return (d.width + d.blockW - 1) / d.blockW }
func (d *decoder) down() int   { return (d.height + d.blockH - 1) / d.blockH }

func (d *decoder) blockField(tag uint16, blocks int) ([]int64, error) {
	f, ok := tiffdir.Find(d.fields, tag)
	if !ok || int64(f.Count) < int64(blocks) {
		return nil, malformed("it has %d strips or tiles and places for %d (tag %d)", blocks, f.Count, tag)
	}
	v, err := d.Uints(f.First(uint32(blocks)))
	if err != nil {
		return nil, malformed("%v", err)
	}
	return v, nil
}

// readBlocks decodes all strips or tiles.
func (d *decoder) readBlocks(m *picture.Image) error {
	planes := 1
	if d.planar {
		planes = d.samples
	}
	u := newUnpacker(d, m, d.samplesPerBlock())
	i := 0
	for plane := range planes {
		for by := range d.down() {
			for bx := range d.across() {
				x, y := bx*d.blockW, by*d.blockH
				r, err := d.openBlock(i, x, y)
				if err != nil {
					return err
				}
				if err := u.readBlock(r, x, y, plane); err != nil {
					return err
				}
				i++
			}
		}
	}
	if d.photometric == photometricCMYK {
		u.finishCMYK(m)
	}
	if d.lab() {
		d.finishLab(m)
	}
	if d.alphaKind == extraAssociated {
		for c := range m.Channels {
			samples.Unmultiply(m.Plane(c), m.Alpha)
		}
	}
	return nil
}

// samplesPerBlock is how many samples of a pixel a strip or tile holds.
func (d *decoder) samplesPerBlock() int {
	if d.planar {
		return 1
	}
	return d.samples
}

// openBlock returns the decompressed bytes of the i-th strip or tile, whose first pixel is at
// column x and row y.
func (d *decoder) openBlock(i, x, y int) (io.Reader, error) {
	if d.jpeg() {
		return d.openJPEG(i, x, y)
	}
	block, err := d.block(i)
	if err != nil {
		return nil, err
	}
	return d.decompress(block)
}

// block returns the bytes of the i-th strip or tile.
func (d *decoder) block(i int) (io.Reader, error) {
	offset := d.offsets[i]
	if offset == math.MaxInt64 || !d.src.Has(offset+1) {
		return nil, format.Truncated(format.TIFF)
	}
	r := budgetReader{d.src.From(offset), &d.packed}
	if d.counts == nil {
		return r, nil
	}
	return io.LimitReader(r, d.counts[i]), nil
}

// budgetReader fails where strips or tiles have taken more bytes than their pixels need. Thousands of them may be the same
// bytes, of which most unpack to nothing.
type budgetReader struct {
	r    io.Reader
	left *int64
}

func (b budgetReader) Read(p []byte) (int, error) {
	if *b.left <= 0 {
		return 0, malformed("its strips or tiles take more bytes than their pixels need")
	}
	n, err := b.r.Read(p)
	*b.left -= int64(n)
	return n, err
}

// TakeMetadata gives an image the metadata of the first directory of a file.
func TakeMetadata(m *picture.Image, src *source.Source) error {
	t, first, err := tiffdir.Open(src)
	if err != nil {
		return malformed("%v", err)
	}
	fields, _, err := t.Directory(first)
	if err != nil {
		return malformed("%v", err)
	}
	return (&decoder{Tree: t, src: src, fields: fields}).readMetadata(m)
}

func (d *decoder) readMetadata(m *picture.Image) error {
	blob := func(tag uint16) ([]byte, error) {
		f, ok := tiffdir.Find(d.fields, tag)
		if !ok {
			return nil, nil
		}
		if f.Size > metadata.MaxSize {
			return nil, fmt.Errorf("%w: tag %d of the TIFF is larger than %d MB", format.ErrUnsupported, tag, metadata.MaxSize>>20)
		}
		b, err := d.Bytes(f)
		if err != nil {
			m.Warn("tag %d is dropped: it lies outside the file", tag)
			return nil, nil
		}
		return b, nil
	}
	icc, err := blob(tagICC)
	if err != nil {
		return err
	}
	m.SetICC(icc)
	if m.Metadata.XMP, err = blob(tagXMP); err != nil {
		return err
	}
	m.Metadata.Resolution = metadata.ResolutionOf(d.Tree, d.fields)
	m.Metadata.IPTC = metadata.IPTCOfDirectory(d.Tree, d.fields)
	exif, noteLost := metadata.DescriptiveEXIF(d.Tree, d.fields)
	if noteLost {
		m.Warn("the notes of the camera's maker are dropped: they can be read only where they are in the file")
	}
	m.Metadata.EXIF = exif
	return nil
}

// unpacker turns the rows of blocks into samples.
type unpacker struct {
	d        *decoder
	perBlock int
	row      []byte    // a row of a block
	values   []float32 // one sample of each of its pixels
	scratch  []byte    // for the float predictor
	planes   [][]float32
	alpha    []uint16
}

func newUnpacker(d *decoder, m *picture.Image, perBlock int) *unpacker {
	u := &unpacker{d: d, perBlock: perBlock, alpha: m.Alpha}
	u.row = make([]byte, (int64(d.blockW)*int64(perBlock)*int64(d.bits)+7)/8)
	u.values = make([]float32, d.blockW)
	for c := range m.Channels {
		u.planes = append(u.planes, m.Plane(c))
	}
	if d.photometric == photometricCMYK {
		u.planes = append(u.planes, make([]float32, d.width*d.height)) // black
	}
	return u
}

// readBlock reads the rows of a block whose first pixel is at column x and row y.
// plane is the sample that it holds, in a file of planes.
func (u *unpacker) readBlock(r io.Reader, x, y, plane int) error {
	d := u.d
	n := min(d.blockW, d.width-x)
	for yy := y; yy < min(y+d.blockH, d.height); yy++ {
		if _, err := io.ReadFull(r, u.row); err != nil {
			return format.Foreign(format.TIFF, err)
		}
		u.undoPrediction()
		at := yy*d.width + x
		for k := range u.perBlock {
			u.store(plane+k, at, u.sample(k, n))
		}
	}
	return nil
}

// store puts one sample of a run of pixels where it belongs.
func (u *unpacker) store(sample, at int, v []float32) {
	d := u.d
	switch {
	case sample == d.alpha:
		for x, a := range v {
			u.alpha[at+x] = uint16(samples.Quantise(a, 65535))
		}
	case sample >= d.colours:
	case d.photometric == photometricPalette:
		top := float32(int(1)<<d.bits - 1)
		for x, i := range v {
			index := samples.Quantise(i, top)
			for c, p := range u.planes {
				p[at+x] = d.palette[c][index]
			}
		}
	default:
		copy(u.planes[sample][at:at+len(v)], v)
	}
}

// sample returns the k-th sample of the first n pixels of the row.
func (u *unpacker) sample(k, n int) []float32 {
	d, out, step := u.d, u.values[:n], u.perBlock
	invert := d.photometric == photometricWhiteIsZero && k != d.alpha && !d.float
	flip := func(v, top uint32) uint32 {
		if invert {
			return top - v
		}
		return v
	}
	switch d.bits {
	case 8:
		if d.signed {
			for x, i := 0, k; x < n; x, i = x+1, i+step {
				out[x] = float32(int8(u.row[i]))
			}
			break
		}
		for x, i := 0, k; x < n; x, i = x+1, i+step {
			out[x] = samples.Unit8[flip(uint32(u.row[i]), 255)]
		}
	case 16:
		if d.float {
			for x, i := 0, 2*k; x < n; x, i = x+1, i+2*step {
				out[x] = halfFloat(d.Order.Uint16(u.row[i:]))
			}
			break
		}
		if d.signed {
			for x, i := 0, 2*k; x < n; x, i = x+1, i+2*step {
				out[x] = float32(int16(d.Order.Uint16(u.row[i:])))
			}
			break
		}
		for x, i := 0, 2*k; x < n; x, i = x+1, i+2*step {
			out[x] = samples.Unit16(uint16(flip(uint32(d.Order.Uint16(u.row[i:])), 65535)))
		}
	case 32:
		for x, i := 0, 4*k; x < n; x, i = x+1, i+4*step {
			out[x] = math.Float32frombits(d.Order.Uint32(u.row[i:]))
		}
	case 64:
		for x, i := 0, 8*k; x < n; x, i = x+1, i+8*step {
			out[x] = float32(math.Float64frombits(d.Order.Uint64(u.row[i:])))
		}
	default:
		top := uint32(1)<<d.bits - 1
		for x := range n {
			first := (x*step + k) * d.bits
			last := first + d.bits - 1
			v := uint32(0)
			for _, b := range u.row[first/8 : last/8+1] { // up to three bytes
				v = v<<8 | uint32(b)
			}
			v = v >> (7 - last%8) & top
			out[x] = float32(flip(v, top)) / float32(top)
		}
	}
	if d.photometric == photometricWhiteIsZero && k != d.alpha && d.float {
		for x, v := range out {
			out[x] = 1 - v
		}
	}
	return out
}

// halfFloat returns the value of an IEEE 754 number of 16 bits.
func halfFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15), int(h>>10&31), uint32(h&1023)
	var v float32
	switch exponent {
	case 0:
		v = float32(math.Ldexp(float64(fraction), -24))
	case 31:
		return math.Float32frombits(sign<<31 | 255<<23 | fraction<<13)
	default:
		v = float32(math.Ldexp(float64(1024+fraction), exponent-25))
	}
	if sign == 1 {
		return -v
	}
	return v
}

// undoPrediction adds to each sample its left neighbour (TIFF 6.0, section 14).
// For floats, the bytes of a row are sorted by significance first (Adobe
// Photoshop TIFF technical note 3).
func (u *unpacker) undoPrediction() {
	d, row, n := u.d, u.row, u.perBlock
	switch {
	case d.predictor == predictorNone:
	case d.predictor == predictorFloat:
		for i := n; i < len(row); i++ {
			row[i] += row[i-n]
		}
		u.scratch = append(u.scratch[:0], row...)
		size := d.bits / 8
		values := len(row) / size
		for i := range values {
			for b := range size {
				at := b // the most significant byte comes first
				if d.Order == binary.ByteOrder(binary.LittleEndian) {
					at = size - 1 - b
				}
				row[i*size+at] = u.scratch[b*values+i]
			}
		}
	case d.bits == 8:
		for i := n; i < len(row); i++ {
			row[i] += row[i-n]
		}
	case d.bits == 32:
		for i := 4 * n; i+3 < len(row); i += 4 {
			d.Order.PutUint32(row[i:], d.Order.Uint32(row[i:])+d.Order.Uint32(row[i-4*n:]))
		}
	case d.bits == 64:
		for i := 8 * n; i+7 < len(row); i += 8 {
			d.Order.PutUint64(row[i:], d.Order.Uint64(row[i:])+d.Order.Uint64(row[i-8*n:]))
		}
	case d.bits == 16:
		for i := 2 * n; i+1 < len(row); i += 2 {
			d.Order.PutUint16(row[i:], d.Order.Uint16(row[i:])+d.Order.Uint16(row[i-2*n:]))
		}
	}
}

// finishCMYK turns inks into light: what neither the ink nor black absorbs.
func (u *unpacker) finishCMYK(m *picture.Image) {
	black := u.planes[3]
	for c := range 3 {
		p := u.planes[c]
		for i, k := range black {
			p[i] = (1 - p[i]) * (1 - k)
		}
	}
	m.WarnCMYK()
}
