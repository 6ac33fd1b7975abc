package dng

import (
	"errors"
	"math"
	"sort"

	"github.com/averaged/imaging/internal/losslessjpeg"
	"github.com/averaged/imaging/internal/tiffdir"
)

// layout says where the strips or tiles of the raw image are. Both are blocks here.
type layout struct {
	lossless         bool // lossless JPEG, or uncompressed
	width, height    int  // of a block
	across, down     int
	tiled            bool
	offsets, lengths tiffdir.Field // lengths.tag is 0 if the file does not have them
	blocks           []block
}

// block is one strip or tile.
type block struct {
	offset, length int64
	x, y           int // of its first pixel
	width, height  int // with what is beyond the edge of the image
	frame          losslessjpeg.Frame
}

// readLayout finds the blocks, and refuses files that are too short for their pixels, before there
// is room for any.
func (m *Raw) readLayout() error {
	l := &m.layout
	compression, err := m.integer(m.image, tiffdir.TagCompression, compressionNone)
	if err != nil {
		return err
	}
	switch compression {
	case compressionNone:
	case compressionJPEG:
		l.lossless = true
	default:
		return unsupported("compression %d%s (lossless JPEG and uncompressed are read)", compression, compressionNames[compression])
	}
	bitsOfSample := int64(m.Bits)
	if l.lossless {
		bitsOfSample = 1 // at least
	}
	if int64(m.Width)*int64(m.Height)*int64(m.Samples) > 8*m.file.size/bitsOfSample {
		return malformed("the file ends early (a truncated file?)")
	}
	offsets, lengths := uint16(tiffdir.TagStripOffsets), uint16(tiffdir.TagStripByteCounts)
	if _, l.tiled = m.image.find(tiffdir.TagTileWidth); l.tiled {
		offsets, lengths = tiffdir.TagTileOffsets, tiffdir.TagTileByteCounts
	}
	if err := m.readBlockSize(); err != nil {
		return err
	}
	l.across, l.down = (m.Width+l.width-1)/l.width, (m.Height+l.height-1)/l.height
	return m.findBlocks(offsets, lengths)
}

func (m *Raw) readBlockSize() error {
	l := &m.layout
	if !l.tiled {
		rows, err := m.integer(m.image, tiffdir.TagRowsPerStrip, math.MaxUint32)
		if err != nil {
			return err
		}
		if rows == 0 {
			return malformed("strips of 0 rows")
		}
		l.width, l.height = m.Width, int(min(int64(rows), int64(m.Height)))
		return nil
	}
	w, err := m.integer(m.image, tiffdir.TagTileWidth, 0)
	if err != nil {
		return err
	}
	h, err := m.integer(m.image, tiffdir.TagTileLength, 0)
	if err != nil {
		return err
	}
	const largest = 1<<16 - 1 // that JPEG has
	if w < 1 || h < 1 || w > largest || h > largest {
		return malformed("tiles of %d×%d pixels", w, h)
	}
	l.width, l.height = int(w), int(h)
	return nil
}

func (m *Raw) findBlocks(offsetsTag, lengthsTag uint16) error {
	l := &m.layout
	offsets, err := m.integers(m.image, offsetsTag)
	if err != nil {
		return err
	}
	lengths, err := m.integers(m.image, lengthsTag)
	if err != nil {
		return err
	}
	l.offsets, _ = m.image.find(offsetsTag)
	n := int64(l.across) * int64(l.down)
	var known bool
	l.lengths, known = m.image.find(lengthsTag)
	for _, f := range []tiffdir.Field{l.offsets, l.lengths} {
		if f.Tag != 0 && f.Kind != tiffdir.Short && f.Kind != tiffdir.Long && f.Kind != tiffdir.IFD {
			return malformed("tag %d has type %d, an unsigned integer is needed", f.Tag, f.Kind)
		}
	}
	if int64(len(offsets)) != n || known && int64(len(lengths)) != n {
		return malformed("%d strips or tiles with %d places and %d lengths", n, len(offsets), len(lengths))
	}
	if !known && l.lossless {
		return malformed("strips or tiles without their lengths")
	}
	var said, lacking []span // what the lengths say, and what uncompressed pixels need beyond that
	left := m.file.size      // no two share bytes, or a small file would hold any number of pixels to decode
	for i, offset := range offsets {
		b := block{
			offset: int64(offset),
			x:      i % l.across * l.width, y: i / l.across * l.height,
			width: l.width, height: l.height,
		}
		if !l.tiled {
			b.height = min(b.height, m.Height-b.y)
		}
		b.length = m.rowBytes(b) * int64(b.height)
		switch {
		case !known:
		case l.lossless:
			b.length = int64(lengths[i])
		case int64(lengths[i]) < b.length:
			end := b.offset + int64(lengths[i])
			said, lacking = append(said, span{b.offset, end}), append(lacking, span{end, b.offset + b.length})
		default: // What may stand behind uncompressed pixels is none of them.
			said = append(said, span{b.offset, b.offset + b.length})
		}
		if b.offset > m.file.size-b.length {
			return malformed("the file ends early (a truncated file?)")
		}
		if left -= b.length; left < 0 {
			return malformed("strips or tiles that share bytes")
		}
		l.blocks = append(l.blocks, b)
	}
	return m.checkLacking(said, lacking)
}

// checkLacking refuses strips and tiles that are shorter than their uncompressed pixels, unless nothing else stands where these go on.
// Then it is their length that is wrong, as in files of some drones; other programs do not look at it.
func (m *Raw) checkLacking(said, lacking []span) error {
	if len(lacking) == 0 {
		return nil
	}
	others := merge(append(said, m.used()...))
	for _, s := range lacking {
		next := sort.Search(len(others), func(i int) bool { return others[i].to > s.from })
		if next < len(others) && others[next].from < s.to {
			return malformed("a strip or tile that lacks %d bytes", s.to-s.from)
		}
	}
	return nil
}

// rowBytes is the bytes of a row of an uncompressed block.
func (m *Raw) rowBytes(b block) int64 {
	return (int64(b.width)*int64(m.Samples)*int64(m.Bits) + 7) / 8
}

func (m *Raw) readBlocks() error {
	m.Pix = make([]uint16, m.Width*m.Height*m.Samples)
	depth := 0
	for i := range m.layout.blocks {
		b := &m.layout.blocks[i]
		data, err := m.file.Bytes(b.offset, b.length)
		if err != nil {
			return err
		}
		if !m.layout.lossless {
			m.unpack(b, data)
			continue
		}
		if err := m.decode(b, data); err != nil {
			return err
		}
		depth = max(depth, b.frame.Precision)
	}
	if m.layout.lossless {
		m.Top = min(m.Top, uint16(1<<depth-1))
	}
	return nil
}

// decode reads lossless JPEG. Its width, height and components need not be those of the block, as
// long as it has as many samples: the order counts (DNG specification, "Compression"). So cameras
// code two colours of a mosaic as two components, or two rows as one.
func (m *Raw) decode(b *block, data []byte) error {
	// The length of the data bounds the samples.
	frame, samples, err := losslessjpeg.Decode(data, math.MaxInt32)
	if err != nil {
		return jpegError(err)
	}
	row := b.width * m.Samples
	coded := frame.Width * frame.Components // samples of a row of the frame
	switch whole := m.layout.height * row; {
	case len(samples) == b.height*row:
		coded = row
	case len(samples) == whole: // The last strip goes on below the image.
		b.height, coded = m.layout.height, row
	case coded >= row && frame.Height >= b.height:
		// Its rows are longer, or more: what is too much is none of the block.
		frame = losslessjpeg.Frame{Precision: frame.Precision, Predictor: frame.Predictor}
	default:
		return malformed("a strip or tile of %d×%d pixels holds JPEG of %d×%d pixels of %d", b.width, b.height, frame.Width, frame.Height, frame.Components)
	}
	b.frame = frame
	n := min(b.width, m.Width-b.x) * m.Samples
	for y := range min(b.height, m.Height-b.y) {
		line := samples[y*coded:][:n]
		if precision(line, 0) > m.Bits {
			return malformed("samples of more than %d bits", m.Bits)
		}
		copy(m.Pix[m.at(b.x, b.y+y):], line)
	}
	return nil
}

// at is the place of the first sample of a pixel.
func (m *Raw) at(x, y int) int { return (y*m.Width + x) * m.Samples }

// unpack reads uncompressed samples. Those of 8 and 16 bits are bytes and numbers in the order of the
// file, others are packed, the highest bits first; every row begins with a byte.
func (m *Raw) unpack(b *block, data []byte) {
	row := int(m.rowBytes(*b))
	n := min(b.width, m.Width-b.x) * m.Samples
	for y := range min(b.height, m.Height-b.y) {
		line, to := data[y*row:(y+1)*row], m.Pix[m.at(b.x, b.y+y):][:n]
		switch m.Bits {
		case 8:
			for i := range to {
				to[i] = uint16(line[i])
			}
		case 16:
			for i := range to {
				to[i] = m.tiff.Order.Uint16(line[2*i:])
			}
		default:
			acc, have, next := uint32(0), 0, 0
			for i := range to {
				for have < m.Bits {
					acc = acc<<8 | uint32(line[next])
					have += 8
					next++
				}
				have -= m.Bits
				to[i] = uint16(acc >> have & (1<<m.Bits - 1))
			}
		}
	}
}

// pack is the inverse of unpack.
func (m *Raw) pack(b *block, samples []uint16) []byte {
	row := b.width * m.Samples
	out := make([]byte, 0, m.rowBytes(*b)*int64(b.height))
	for ; len(samples) > 0; samples = samples[row:] {
		switch m.Bits {
		case 8:
			for _, v := range samples[:row] {
				out = append(out, byte(v))
			}
		case 16:
			for _, v := range samples[:row] {
				out = m.tiff.Order.AppendUint16(out, v)
			}
		default:
			acc, have := uint32(0), 0
			for _, v := range samples[:row] {
				acc = acc<<m.Bits | uint32(v)
				for have += m.Bits; have >= 8; have -= 8 {
					out = append(out, byte(acc>>(have-8)))
				}
			}
			if have > 0 {
				out = append(out, byte(acc<<(8-have)))
			}
		}
	}
	return out
}

// gather returns the samples of a block. Beyond the edge of the image stand those of the last pixels
// of the same colour.
func (m *Raw) gather(b *block, pix []uint16) []uint16 {
	period := 1
	if m.Mosaic {
		period = 2
	}
	samples := make([]uint16, 0, b.width*b.height*m.Samples)
	for y := range b.height {
		line := pix[m.at(0, inside(b.y+y, m.Height, period)):][:m.Width*m.Samples]
		n := min(b.width, m.Width-b.x)
		samples = append(samples, line[b.x*m.Samples:(b.x+n)*m.Samples]...)
		for x := b.x + n; x < b.x+b.width; x++ {
			at := inside(x, m.Width, period) * m.Samples
			samples = append(samples, line[at:at+m.Samples]...)
		}
	}
	return samples
}

// inside is the last number below n that is x plus a multiple of the period.
func inside(x, n, period int) int {
	if x < n {
		return x
	}
	return max(n-1-mod(n-1-x, period), 0)
}

// encode returns the bytes of a block.
func (m *Raw) encode(b *block, pix []uint16) ([]byte, error) {
	samples := m.gather(b, pix)
	if !m.layout.lossless {
		return m.pack(b, samples), nil
	}
	f := b.frame
	if f.Width == 0 {
		f.Width, f.Height, f.Components = b.width, b.height, m.Samples
		if m.Mosaic && b.width%2 == 0 {
			f.Width, f.Components = b.width/2, 2
		}
	}
	f.Precision = precision(samples, f.Precision)
	data, err := losslessjpeg.Encode(f, samples)
	if errors.Is(err, losslessjpeg.ErrUnsupported) {
		return nil, jpegError(err)
	}
	return data, err
}
