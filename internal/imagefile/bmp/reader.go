// Package bmp reads and writes bitmaps of Windows and OS/2.
package bmp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
)

// Offsets in the headers of a bitmap, from the beginning of the file, and sizes
// of the second header, which tell its version.
const (
	fileHeader = 14
	coreHeader = 12  // BITMAPCOREHEADER, of OS/2
	infoHeader = 40  // BITMAPINFOHEADER
	v3Header   = 56  // the first with a mask for alpha
	v5Header   = 124 // BITMAPV5HEADER

	atDepth       = 28
	atCompression = 30
	atDensity     = 38
	atColoursUsed = 46
	atMasks       = 54
	atColourSpace = 70
	atProfile     = 126
)

// The compressions of bitmaps.
const (
	plain          = 0
	runs8          = 1
	runs4          = 2
	bitFields      = 3
	alphaBitFields = 6
)

// embedded is the colour space of a V5 header whose profile is in the file.
const embedded = 0x4d424544 // "MBED"

// decoder reads a bitmap. x/image/bmp reads neither run lengths, which
// several programs write for grey, nor 16 bits, nor masks, nor any resolution.
type decoder struct {
	src           *source.Source
	header        []byte // both headers
	size          int    // of the second
	width, height int
	topDown       bool
	depth         int
	compression   uint32
	pixels        int64 // offset
	palette       [][3]byte
	masks         [4]uint32 // red, green, blue, alpha
}

// Decode reads a bitmap.
func Decode(src *source.Source) (*picture.Image, error) {
	d := &decoder{src: src}
	if err := d.readHeader(); err != nil {
		return nil, err
	}
	var m *picture.Image
	var err error
	if d.depth <= 8 {
		m, err = d.readIndexed()
	} else {
		m, err = d.readDirect()
	}
	if err != nil {
		return nil, err
	}
	d.readMetadata(m)
	return m, nil
}

func (d *decoder) readHeader() error {
	le := binary.LittleEndian
	b, err := d.src.Bytes(0, fileHeader+4)
	if err != nil {
		return format.Truncated(format.BMP)
	}
	d.pixels = int64(le.Uint32(b[10:]))
	size := le.Uint32(b[fileHeader:])
	if !slices.Contains([]uint32{coreHeader, infoHeader, 52, v3Header, 64, 108, v5Header}, size) {
		return fmt.Errorf("%w: BMP with a header of %d bytes", format.ErrUnsupported, size)
	}
	d.size = int(size)
	// The masks of a plain header follow it.
	if d.header, err = d.src.Start(fileHeader + max(d.size, infoHeader+16)); err != nil || len(d.header) < fileHeader+d.size {
		return format.Truncated(format.BMP)
	}
	if d.size == coreHeader {
		d.width, d.height = int(le.Uint16(d.header[18:])), int(le.Uint16(d.header[20:]))
		d.depth = int(le.Uint16(d.header[24:]))
	} else {
		d.width, d.height = int(int32(le.Uint32(d.header[18:]))), int(int32(le.Uint32(d.header[22:])))
		d.depth = int(le.Uint16(d.header[atDepth:]))
		d.compression = le.Uint32(d.header[atCompression:])
	}
	if d.height < 0 {
		d.height, d.topDown = -max(d.height, -math.MaxInt), true
	}
	if err := d.src.CheckSize(format.BMP, d.width, d.height); err != nil {
		return err
	}
	if err := d.checkCoding(); err != nil {
		return err
	}
	if d.depth <= 8 {
		return d.readPalette()
	}
	return d.readMasks()
}

func (d *decoder) checkCoding() error {
	ok := false
	switch d.compression {
	case plain:
		ok = slices.Contains([]int{1, 2, 4, 8, 16, 24, 32}, d.depth)
	case runs8:
		ok = d.depth == 8
	case runs4:
		ok = d.depth == 4
	case bitFields, alphaBitFields:
		ok = d.depth == 16 || d.depth == 32
	}
	if !ok {
		return fmt.Errorf("%w: BMP with %d bits per pixel and compression %d", format.ErrUnsupported, d.depth, d.compression)
	}
	if d.compression != runs8 && d.compression != runs4 && !d.src.Has(d.pixels+d.rowBytes()*int64(d.height)) {
		return format.Truncated(format.BMP)
	}
	return nil
}

// rowBytes is the length of a row without run lengths, a multiple of four bytes.
func (d *decoder) rowBytes() int64 { return (int64(d.width)*int64(d.depth) + 31) / 32 * 4 }

// row returns the row of the image that is the i-th in the file.
func (d *decoder) row(i int) int {
	if d.topDown {
		return i
	}
	return d.height - 1 - i
}

func (d *decoder) readPalette() error {
	n, entry := int64(1)<<d.depth, int64(4)
	if d.size == coreHeader {
		entry = 3
	} else if used := int64(binary.LittleEndian.Uint32(d.header[atColoursUsed:])); used != 0 {
		n = min(n, used)
	}
	b, err := d.src.Bytes(int64(fileHeader+d.size), n*entry)
	if err != nil {
		return format.Truncated(format.BMP)
	}
	for i := range n {
		c := b[i*entry:]
		d.palette = append(d.palette, [3]byte{c[2], c[1], c[0]})
	}
	d.palette = append(d.palette, make([][3]byte, 1<<d.depth-n)...) // black, as elsewhere
	return nil
}

func (d *decoder) readMasks() error {
	masks := d.header[min(atMasks, len(d.header)):]
	mask := func(i int) uint32 {
		if len(masks) < 4*i+4 {
			return 0
		}
		return binary.LittleEndian.Uint32(masks[4*i:])
	}
	switch {
	case d.compression == plain && d.depth == 16:
		d.masks = [4]uint32{0x7c00, 0x3e0, 0x1f}
	case d.compression == plain:
		d.masks = [4]uint32{0xff0000, 0xff00, 0xff}
	default:
		d.masks = [4]uint32{mask(0), mask(1), mask(2)}
	}
	// Four bytes per pixel may be there only to align them: alpha needs a mask.
	if d.depth != 24 && (d.size >= v3Header || d.compression == alphaBitFields) && d.compression != plain ||
		d.depth == 32 && d.size >= v3Header && mask(3) == 0xff000000 {
		d.masks[3] = mask(3)
	}
	for c, m := range d.masks {
		if width := bits.OnesCount32(m); width > 16 || width == 0 && c < 3 || m>>bits.TrailingZeros32(m|1<<31) != 1<<width-1 {
			return format.Malformed(format.BMP, "the colour mask %#x is not 1 to 16 bits in a row", m)
		}
	}
	return nil
}

// readDirect reads 16, 24 or 32 bits per pixel.
func (d *decoder) readDirect() (*picture.Image, error) {
	depth := 8
	for _, mask := range d.masks {
		if bits.OnesCount32(mask) > 8 {
			depth = 16
		}
	}
	m := picture.New(d.width, d.height, 3, depth, d.masks[3] != 0)
	r := bufio.NewReaderSize(d.src.From(d.pixels), 1<<16)
	row := make([]byte, d.rowBytes())
	values := make([]uint32, d.width)
	for i := range d.height {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, format.Foreign(format.BMP, err)
		}
		for x := range values {
			switch d.depth {
			case 16:
				values[x] = uint32(binary.LittleEndian.Uint16(row[2*x:]))
			case 24:
				values[x] = uint32(row[3*x]) | uint32(row[3*x+1])<<8 | uint32(row[3*x+2])<<16
			case 32:
				values[x] = binary.LittleEndian.Uint32(row[4*x:])
			}
		}
		at := d.row(i) * d.width
		for c, mask := range d.masks {
			if mask == 0 {
				continue
			}
			shift := bits.TrailingZeros32(mask)
			top := float32(mask >> shift)
			if c < 3 {
				out := m.Plane(c)[at : at+d.width]
				for x, v := range values {
					out[x] = float32(v&mask>>shift) / top
				}
				continue
			}
			for x, v := range values {
				m.Alpha[at+x] = uint16(samples.Quantise(float32(v&mask>>shift)/top, 65535))
			}
		}
	}
	return m, nil
}

// readIndexed reads 1 to 8 bits per pixel, which are indices of a palette.
func (d *decoder) readIndexed() (*picture.Image, error) {
	channels := 1
	for _, c := range d.palette {
		if c[0] != c[1] || c[0] != c[2] {
			channels = 3
		}
	}
	m := picture.New(d.width, d.height, channels, 8, false)
	m.SourceDepth = d.depth
	put := func(y int, indices []byte) {
		for x, i := range indices {
			for c := range channels {
				m.Plane(c)[y*d.width+x] = samples.Unit8[d.palette[i][c]]
			}
		}
	}
	r := bufio.NewReaderSize(d.src.From(d.pixels), 1<<16)
	if d.compression == runs8 || d.compression == runs4 {
		return m, d.readRuns(r, put)
	}
	row, indices := make([]byte, d.rowBytes()), make([]byte, d.width)
	top := byte(1<<d.depth - 1)
	for i := range d.height {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, format.Foreign(format.BMP, err)
		}
		for x := range indices {
			bit := x * d.depth
			indices[x] = row[bit/8] >> (8 - d.depth - bit%8) & top
		}
		put(d.row(i), indices)
	}
	return m, nil
}

// readRuns reads pairs of bytes: a count and an index (two in turn, at four bits)
// to be repeated; or 0 and 0 for the end of a row, 1 for the end of the image, 2
// for a jump to the right and up by the next two bytes, and n above 2 for n
// indices as they are, padded to a whole number of words. What is jumped over has
// index 0. Pixels beyond the edge are dropped, as other programs do.
func (d *decoder) readRuns(r *bufio.Reader, put func(y int, indices []byte)) error {
	indices := make([]byte, d.width)
	x, row := 0, 0
	pixel := func(index byte) {
		if x < d.width {
			indices[x] = index
		}
		x++
	}
	nextRow := func() {
		put(d.row(row), indices)
		clear(indices)
		row++
	}
	for row < d.height {
		var pair [2]byte
		if _, err := io.ReadFull(r, pair[:]); err != nil {
			return format.Foreign(format.BMP, err)
		}
		count, value := int(pair[0]), pair[1]
		switch {
		case count > 0:
			for k := range count {
				pixel(d.indexOf(value, k))
			}
		case value == 0:
			nextRow()
			x = 0
		case value == 1:
			for row < d.height {
				nextRow()
			}
		case value == 2:
			if _, err := io.ReadFull(r, pair[:]); err != nil {
				return format.Foreign(format.BMP, err)
			}
			x += int(pair[0])
			for range pair[1] {
				if row == d.height {
					break
				}
				nextRow()
			}
		default:
			n := int(value)
			packed := make([]byte, (n*d.depth+15)/16*2)
			if _, err := io.ReadFull(r, packed); err != nil {
				return format.Foreign(format.BMP, err)
			}
			for k := range n {
				pixel(d.indexOf(packed[k*d.depth/8], k))
			}
		}
	}
	return nil
}

// indexOf returns the k-th index of a byte that is repeated.
func (d *decoder) indexOf(b byte, k int) byte {
	switch {
	case d.depth == 8:
		return b
	case k%2 == 0:
		return b >> 4
	}
	return b & 15
}

func (d *decoder) readMetadata(m *picture.Image) {
	if d.size < infoHeader {
		return
	}
	le := binary.LittleEndian
	r := metadata.Resolution{
		X:    float64(int32(le.Uint32(d.header[atDensity:]))),
		Y:    float64(int32(le.Uint32(d.header[atDensity+4:]))),
		Unit: metadata.Metre,
	}
	if r.Known() {
		m.Metadata.Resolution = r
	}
	if d.size == v5Header && le.Uint32(d.header[atColourSpace:]) == embedded {
		at, size := int64(le.Uint32(d.header[atProfile:])), int64(le.Uint32(d.header[atProfile+4:]))
		profile, err := d.src.Bytes(fileHeader+at, size)
		if err != nil || size > metadata.MaxSize {
			m.Warn("the colour profile is dropped: it lies outside the file")
			return
		}
		m.SetICC(profile)
	}
}
