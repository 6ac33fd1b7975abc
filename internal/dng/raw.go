package dng

import (
	"errors"
	"fmt"
	"image"
	"io"
	"math/bits"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/tiffdir"
)

// Colour is the colour of a filter before a sensor.
type Colour uint8

// The colours of CFAPattern.
const (
	Red Colour = iota
	Green
	Blue
)

// Raw is the raw image of a DNG file.
type Raw struct {
	Width, Height int // of all that is stored, masked pixels included
	Samples       int // per pixel: 1 in a mosaic, 1 to 4 in LinearRaw
	// Bits is how many bits a sample has, 8 to 16.
	Bits int
	// Top is the largest sample that can be written: 2^Bits − 1, or less if lossless JPEG has
	// fewer bits.
	Top uint16
	// Mosaic tells whether a pixel has one colour, Colour(x, y), or (LinearRaw) all of them.
	Mosaic bool
	// Pix are the samples as they are stored, before linearisation: sample s of the pixel in
	// column x of row y is Pix[(y·Width + x)·Samples + s]. Write compares with them: they must
	// not be changed.
	Pix []uint16
	// Active is the part of the image that is no margin. Masked are parts that no light fell on,
	// which tell what black is.
	Active image.Rectangle
	Masked []image.Rectangle
	// Levels say what light a sample means.
	Levels Levels
	// Noise is the camera's claim of the noise (NoiseProfile): a sample of colour c whose light is
	// x, where 0 is black and 1 is white, has variance Noise[c][0]·x + Noise[c][1]. One for all
	// colours, one for each, or none. Do not trust it: measured noise is often far from it.
	Noise [][2]float64
	// Neutral is what the sensor reads of grey, by the white balance of the photographer (AsShotNeutral), the largest
	// colour being 1; all 1 if the file does not say.
	Neutral [3]float64
	// Matrix takes CIE XYZ to the colours of the sensor, row by row (ColorMatrix2, for daylight, or else ColorMatrix1);
	// all 0 if the file has none for three colours.
	Matrix [9]float64
	// Exposure is by how many stops a development is to be brighter (BaselineExposure), −8 to 8.
	Exposure float64
	// Orientation is that of EXIF, 1 to 8: how the image is to be turned to be looked at.
	Orientation int
	// Version is the version of the DNG specification that the file follows.
	Version [4]byte

	pattern [2][2]Colour // [row][column], beginning at Active.Min
	*tree
	all    []*directory
	first  *directory
	image  *directory // of the raw image
	layout layout
}

// Options say how to read. The zero value is a useful one.
type Options struct {
	// MaxPixels is the largest width × height that is accepted; 0 means
	// imagefile.DefaultMaxPixels, and a negative number means no limit.
	MaxPixels int64
}

// Is tells whether a file is a DNG file: a TIFF file with a DNGVersion.
func Is(r io.ReaderAt, size int64) bool {
	t, first, err := openTree(r, size)
	if err != nil {
		return false
	}
	d, _, err := t.directory(first)
	if err != nil {
		return false
	}
	_, ok := d.find(tiffdir.TagDNGVersion)
	return ok
}

// Read reads the raw image of the first size bytes of r, which Write reads again.
//
// Its errors wrap imagefile.ErrMalformed, imagefile.ErrUnsupported or imagefile.ErrTooManyPixels,
// or are those of r. Pix takes at most 16 times the memory that the file takes on the disk, and
// everything at most 50 times that, whatever the file says.
func Read(r io.ReaderAt, size int64, opt Options) (*Raw, error) {
	disk := &source.Recorder{ReaderAt: r}
	m, err := readRaw(disk, size, opt)
	if disk.Err != nil {
		return nil, disk.Err
	}
	return m, err
}

func readRaw(r io.ReaderAt, size int64, opt Options) (*Raw, error) {
	t, first, err := openTree(r, size)
	if err != nil {
		return nil, err
	}
	m := &Raw{tree: t}
	if m.all, err = t.directories(first); err != nil {
		return nil, err
	}
	m.first = m.all[0]
	for _, read := range []func() error{
		m.readVersion, m.findImage, func() error { return m.readSize(opt) }, m.readLayout, m.readAreas, m.readPattern,
		m.readLevels, m.readNoise, m.readColour, m.readOrientation, m.readBlocks,
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Raw) readVersion() error {
	v, err := m.integers(m.first, tiffdir.TagDNGVersion)
	if err != nil {
		return err
	}
	if len(v) != 4 {
		return malformed("it has no DNGVersion")
	}
	for i := range m.Version {
		m.Version[i] = byte(v[i])
	}
	// Version 1.0 has another lossless JPEG. What is not read of versions after 1.6 is found below.
	if v[0] != 1 || v[1] < 1 {
		return unsupported("version %d.%d (1.1 to 1.6 are read)", v[0], v[1])
	}
	return nil
}

// What the values of tags mean.
const (
	photometricCFA       = 32803
	photometricLinearRaw = 34892

	compressionNone = 1
	compressionJPEG = 7
)

var compressionNames = map[uint32]string{
	8: " (deflate)", 9: " (VC-5)", 34892: " (lossy JPEG)", 50002: " (JPEG XL)", 52546: " (JPEG XL)",
}

// findImage looks for the raw image: the one of full resolution, in the first directory or one
// below it.
func (m *Raw) findImage() error {
	for _, d := range m.all {
		if !d.main {
			continue
		}
		kind, err := m.integer(d, tagNewSubFileType, 0)
		if err != nil {
			return err
		}
		photometric, err := m.integer(d, tiffdir.TagPhotometric, 0)
		if err != nil {
			return err
		}
		if kind == 0 && (photometric == photometricCFA || photometric == photometricLinearRaw) {
			m.image, m.Mosaic = d, photometric == photometricCFA
			return nil
		}
	}
	return malformed("it has no raw image")
}

func (m *Raw) readSize(opt Options) error {
	w, err := m.integer(m.image, tiffdir.TagImageWidth, 0)
	if err != nil {
		return err
	}
	h, err := m.integer(m.image, tiffdir.TagImageLength, 0)
	if err != nil {
		return err
	}
	if w < 1 || h < 1 {
		return malformed("%d×%d pixels", w, h)
	}
	limit := opt.MaxPixels
	switch {
	case limit == 0:
		limit = source.DefaultMaxPixels
	case limit < 0:
		limit = 1 << 40 // which no file can hold
	}
	if int64(h) > limit/int64(w) {
		return fmt.Errorf("%w: DNG: %d×%d is more than the limit of %d pixels", source.ErrTooManyPixels, w, h, limit)
	}
	m.Width, m.Height = int(w), int(h)

	samples, err := m.integer(m.image, tiffdir.TagSamplesPerPixel, 1)
	if err != nil {
		return err
	}
	switch {
	case samples < 1 || samples > 4:
		return unsupported("%d samples per pixel (1 to 4 are read)", samples)
	case m.Mosaic && samples != 1:
		return unsupported("a mosaic of %d samples per pixel (1 is read)", samples)
	}
	m.Samples = int(samples)
	return m.readFormat()
}

// readFormat reads what a sample is.
func (m *Raw) readFormat() error {
	formats, err := m.integers(m.image, tiffdir.TagSampleFormat)
	if err != nil {
		return err
	}
	for _, f := range formats {
		switch f {
		case 1:
		case 3:
			return unsupported("floating-point samples (integers are read)")
		default:
			return unsupported("sample format %d (unsigned integers are read)", f)
		}
	}
	depths, err := m.integers(m.image, tiffdir.TagBitsPerSample)
	if err != nil {
		return err
	}
	if len(depths) == 0 {
		return malformed("it does not say how many bits a sample has")
	}
	if slices.Min(depths) != slices.Max(depths) {
		return malformed("samples of %v bits, which differ", depths)
	}
	if depths[0] < 8 || depths[0] > 16 {
		return unsupported("%d bits per sample (8 to 16 are read)", depths[0])
	}
	m.Bits = int(depths[0])
	m.Top = uint16(1<<m.Bits - 1)
	for _, v := range []struct {
		tag  uint16
		what string
	}{
		{tiffdir.TagFillOrder, "bits in the order %d (1 is read)"},
		{tiffdir.TagPlanar, "planar configuration %d (1 is read)"},
		{tiffdir.TagPredictor, "predictor %d in front of compression (1 is read)"},
		{tagSubTileBlockSize, "pixels in blocks of %d rows (1 is read)"},
		{tagRowInterleaveFactor, "%d interleaved fields of rows (1 is read)"},
		{tagColumnInterleave, "%d interleaved fields of columns (1 is read)"},
	} {
		n, err := m.integer(m.image, v.tag, 1)
		if err != nil {
			return err
		}
		if n != 1 && !(v.tag == tiffdir.TagPlanar && m.Samples == 1) {
			return unsupported(v.what, n)
		}
	}
	return nil
}

// readAreas reads ActiveArea and MaskedAreas, as far as they are inside the image.
func (m *Raw) readAreas() error {
	m.Active = image.Rect(0, 0, m.Width, m.Height)
	active, err := m.areas(tagActiveArea)
	if err != nil {
		return err
	}
	if len(active) > 0 {
		if m.Active = active[0]; m.Active.Empty() {
			return malformed("an active area without pixels")
		}
	}
	masked, err := m.areas(tagMaskedAreas)
	if err != nil {
		return err
	}
	m.Masked = slices.DeleteFunc(masked, image.Rectangle.Empty)
	return nil
}

// areas reads rectangles: top, left, bottom, right.
func (m *Raw) areas(tag uint16) ([]image.Rectangle, error) {
	v, err := m.integers(m.image, tag)
	if err != nil {
		return nil, err
	}
	var areas []image.Rectangle
	for ; len(v) >= 4; v = v[4:] {
		// Not image.Rect, which exchanges ends in the wrong order.
		r := image.Rectangle{image.Pt(int(v[1]), int(v[0])), image.Pt(int(v[3]), int(v[2]))}
		areas = append(areas, r.Intersect(image.Rect(0, 0, m.Width, m.Height)))
	}
	return areas, nil
}

// readPattern reads the colours of a mosaic.
func (m *Raw) readPattern() error {
	if !m.Mosaic {
		return nil
	}
	layout, err := m.integer(m.image, tagCFALayout, 1)
	if err != nil {
		return err
	}
	if layout != 1 {
		return unsupported("colour filters in layout %d (rectangular, 1, is read)", layout)
	}
	size, err := m.integers(m.image, tagCFARepeatPatternDim)
	if err != nil {
		return err
	}
	pattern, err := m.integers(m.image, tagCFAPattern)
	if err != nil {
		return err
	}
	if len(size) != 2 {
		return malformed("a mosaic without the size of its pattern")
	}
	rows, columns := int(size[0]), int(size[1])
	if len(pattern) != rows*columns || len(pattern) == 0 {
		return malformed("a pattern of %d×%d colour filters with %d colours", rows, columns, len(pattern))
	}
	if !repeats(pattern, rows, columns) {
		name := ""
		switch {
		case rows == 6 && columns == 6:
			name = ", as X-Trans has"
		case rows == 4 && columns == 4:
			name = ", as quad Bayer has"
		}
		return unsupported("a pattern of %d×%d colour filters%s (the Bayer pattern is read)", rows, columns, name)
	}
	pattern = []uint32{pattern[0], pattern[1], pattern[columns], pattern[columns+1]}
	planes, err := m.integers(m.image, tagCFAPlaneColor)
	if err != nil {
		return err
	}
	if len(planes) > 0 && !slices.Equal(planes, []uint32{0, 1, 2}) {
		return unsupported("colour filters %v (red, green and blue, 0 1 2, are read)", planes)
	}
	bayer := [][]uint32{{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 1}, {2, 1, 1, 0}}
	if !slices.ContainsFunc(bayer, func(b []uint32) bool { return slices.Equal(b, pattern) }) {
		return unsupported("colour filters in the pattern %v (the Bayer pattern is read)", pattern)
	}
	for i, c := range pattern {
		m.pattern[i/2][i%2] = Colour(c)
	}
	return nil
}

// repeats tells whether a pattern is one of 2×2 colours, again and again.
func repeats(pattern []uint32, rows, columns int) bool {
	if rows%2 != 0 || columns%2 != 0 {
		return false
	}
	for i, c := range pattern {
		if y, x := i/columns, i%columns; c != pattern[y%2*columns+x%2] {
			return false
		}
	}
	return true
}

// Colour returns the colour of a pixel of a mosaic. The pattern begins in the corner of the active
// area, and goes on in the margins.
func (m *Raw) Colour(x, y int) Colour {
	return m.pattern[(y-m.Active.Min.Y)&1][(x-m.Active.Min.X)&1]
}

// readNoise reads NoiseProfile, which stands with the raw image, or with the first one in files
// of some cameras.
func (m *Raw) readNoise() error {
	v, err := m.numbers(m.image, tagNoiseProfile)
	if err == nil && v == nil {
		v, err = m.ifNumbers(tagNoiseProfile)
	}
	if err != nil && !errors.Is(err, format.ErrMalformed) {
		return err
	}
	for ; len(v) >= 2; v = v[2:] {
		m.Noise = append(m.Noise, [2]float64{v[0], v[1]})
	}
	return nil
}

// readColour reads what a development needs. What is not for three colours, or not a number, says nothing.
func (m *Raw) readColour() error {
	m.Neutral = [3]float64{1, 1, 1}
	neutral, err := m.ifNumbers(tagAsShotNeutral)
	if err != nil {
		return err
	}
	if len(neutral) == 3 && slices.Min(neutral) > 0 {
		for i, v := range neutral {
			m.Neutral[i] = v / slices.Max(neutral)
		}
	}
	exposure, err := m.ifNumbers(tagBaselineExposure)
	if err != nil {
		return err
	}
	if len(exposure) > 0 {
		m.Exposure = min(max(exposure[0], -8), 8)
	}
	for _, tag := range []uint16{tagColorMatrix1, tagColorMatrix2} {
		matrix, err := m.ifNumbers(tag)
		if err != nil {
			return err
		}
		if len(matrix) == 9 {
			m.Matrix = [9]float64(matrix)
		}
	}
	return nil
}

func (m *Raw) readOrientation() error {
	orientation, err := m.integer(m.first, tiffdir.TagOrientation, 1)
	if m.Orientation = int(orientation); orientation < 1 || orientation > 8 {
		m.Orientation = 1
	}
	return err
}

// ifNumbers returns the values of a field of the first directory, none if they are no numbers.
func (m *Raw) ifNumbers(tag uint16) ([]float64, error) {
	v, err := m.numbers(m.first, tag)
	if errors.Is(err, format.ErrMalformed) {
		return nil, nil
	}
	return v, err
}

// precision returns the bits that the samples need, at least those given.
func precision(samples []uint16, least int) int {
	var all uint16
	for _, v := range samples {
		all |= v
	}
	return max(least, bits.Len16(all))
}
