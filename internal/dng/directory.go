package dng

import (
	"encoding/binary"
	"io"
	"math"
)

// The tags that are looked at (TIFF 6.0, and the DNG specification 1.6, chapters 4 to 6).
const (
	tagNewSubFileType      = 254
	tagImageWidth          = 256
	tagImageLength         = 257
	tagBitsPerSample       = 258
	tagCompression         = 259
	tagPhotometric         = 262
	tagFillOrder           = 266
	tagStripOffsets        = 273
	tagOrientation         = 274
	tagSamplesPerPixel     = 277
	tagRowsPerStrip        = 278
	tagStripByteCounts     = 279
	tagPlanar              = 284
	tagPredictor           = 317
	tagTileWidth           = 322
	tagTileLength          = 323
	tagTileOffsets         = 324
	tagTileByteCounts      = 325
	tagSubIFDs             = 330
	tagSampleFormat        = 339
	tagJPEGOffset          = 513
	tagJPEGLength          = 514
	tagCFARepeatPatternDim = 33421
	tagCFAPattern          = 33422
	tagEXIF                = 34665
	tagGPS                 = 34853
	tagInteroperability    = 40965
	tagDNGVersion          = 50706
	tagCFAPlaneColor       = 50710
	tagCFALayout           = 50711
	tagLinearizationTable  = 50712
	tagBlackLevelRepeatDim = 50713
	tagBlackLevel          = 50714
	tagBlackLevelDeltaH    = 50715
	tagBlackLevelDeltaV    = 50716
	tagWhiteLevel          = 50717
	tagColorMatrix1        = 50721
	tagColorMatrix2        = 50722
	tagAsShotNeutral       = 50728
	tagBaselineExposure    = 50730
	tagActiveArea          = 50829
	tagMaskedAreas         = 50830
	tagRawImageDigest      = 50972
	tagSubTileBlockSize    = 50974
	tagRowInterleaveFactor = 50975
	tagNoiseProfile        = 51041
	tagNewRawImageDigest   = 51111
	tagColumnInterleave    = 52547
)

// The types of values.
const (
	typeByte      = 1
	typeShort     = 3
	typeLong      = 4
	typeRational  = 5
	typeSByte     = 6
	typeUndefined = 7
	typeSShort    = 8
	typeSLong     = 9
	typeSRational = 10
	typeFloat     = 11
	typeDouble    = 12
	typeIFD       = 13
)

// typeSizes is the bytes of one value of each type; index 0 is no type.
var typeSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4}

const (
	entrySize = 12
	// maxValues bounds the numbers of a field. The largest are the places of tiles.
	maxValues = 1 << 22
	// maxDirectories bounds the directories of a file, and maxFields the fields of one. Real ones
	// have up to twenty, and two hundred.
	maxDirectories = 256
	maxFields      = 4096
)

// tree reads the directories of a TIFF file. Package tiffdir knows neither signed nor real numbers, nor where
// directories end, which writing needs.
type tree struct {
	r     io.ReaderAt
	size  int64
	order byteOrder
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// field is an entry of a directory.
type field struct {
	tag, kind uint16
	count     uint32
	entry     int64 // offset of the entry
	value     int64 // offset of the value
	size      int64 // bytes of the value
}

// directory is one of the directories of a file.
type directory struct {
	at, end int64 // its bytes
	fields  []field
	main    bool // the first one, or one that it names as SubIFD
}

// bytes returns n bytes at an offset. It fails, before it allocates, if they are not all there.
func (t *tree) bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > t.size-n {
		return nil, malformed("the file ends early (a truncated file?)")
	}
	b := make([]byte, n)
	if _, err := t.r.ReadAt(b, offset); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// openTree reads the header and returns the offset of the first directory.
func openTree(r io.ReaderAt, size int64) (*tree, int64, error) {
	t := &tree{r: r, size: size}
	head, err := t.bytes(0, 8)
	if err != nil {
		return nil, 0, err
	}
	switch string(head[:4]) {
	case "II*\x00":
		t.order = binary.LittleEndian
	case "MM\x00*":
		t.order = binary.BigEndian
	case "II+\x00", "MM\x00+":
		return nil, 0, unsupported("64-bit offsets (BigTIFF)")
	default:
		return nil, 0, malformed("it does not begin with a TIFF header")
	}
	return t, int64(t.order.Uint32(head[4:])), nil
}

// directories returns all directories, the first one first.
func (t *tree) directories(first int64) ([]*directory, error) {
	type place struct {
		offset      int64
		main, chain bool // chain: what follows it is looked at
	}
	var found []*directory
	known := map[int64]bool{}
	for queue := []place{{first, true, true}}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if p.offset == 0 || known[p.offset] {
			continue
		}
		known[p.offset] = true
		if len(found) == maxDirectories {
			return nil, malformed("more than %d directories", maxDirectories)
		}
		d, next, err := t.directory(p.offset)
		if err != nil {
			if len(found) > 0 && !p.main {
				continue // What it holds is copied as it is, whatever it is.
			}
			return nil, err
		}
		d.main = p.main
		found = append(found, d)
		if p.chain {
			queue = append(queue, place{next, false, true})
		}
		for _, tag := range []uint16{tagSubIFDs, tagEXIF, tagGPS, tagInteroperability} {
			if f, ok := d.find(tag); ok && f.count > maxDirectories {
				return nil, malformed("more than %d directories", maxDirectories)
			}
			below, err := t.integers(d, tag)
			if err != nil {
				return nil, err
			}
			for _, offset := range below {
				queue = append(queue, place{int64(offset), tag == tagSubIFDs && len(found) == 1, false})
			}
		}
	}
	if len(found) == 0 {
		return nil, malformed("it has no directory")
	}
	return found, nil
}

// directory reads the directory at an offset, and returns the offset of the next one, or 0.
// Fields of unknown type are left out, as TIFF 6.0 asks of readers.
func (t *tree) directory(offset int64) (*directory, int64, error) {
	head, err := t.bytes(offset, 2)
	if err != nil {
		return nil, 0, err
	}
	n := int64(t.order.Uint16(head))
	if n > maxFields {
		return nil, 0, malformed("a directory of %d fields", n)
	}
	entries, err := t.bytes(offset+2, n*entrySize)
	if err != nil {
		return nil, 0, err
	}
	d := &directory{at: offset, end: offset + 2 + n*entrySize}
	for i := range n {
		e := entries[i*entrySize:]
		f := field{
			tag:   t.order.Uint16(e),
			kind:  t.order.Uint16(e[2:]),
			count: t.order.Uint32(e[4:]),
			entry: offset + 2 + i*entrySize,
		}
		if f.kind == 0 || int(f.kind) >= len(typeSizes) {
			continue
		}
		f.size = typeSizes[f.kind] * int64(f.count)
		f.value = f.entry + 8
		if f.size > 4 {
			f.value = int64(t.order.Uint32(e[8:]))
		}
		d.fields = append(d.fields, f)
	}
	// Some writers leave the offset of the next directory out at the end of a file.
	if tail, err := t.bytes(d.end, 4); err == nil {
		d.end += 4
		return d, int64(t.order.Uint32(tail)), nil
	}
	return d, 0, nil
}

func (d *directory) find(tag uint16) (field, bool) {
	for _, f := range d.fields {
		if f.tag == tag {
			return f, true
		}
	}
	return field{}, false
}

// numbers returns the values of a field, or none if the directory does not have it. A fraction
// whose denominator is 0 is none.
func (t *tree) numbers(d *directory, tag uint16) ([]float64, error) {
	f, ok := d.find(tag)
	if !ok {
		return nil, nil
	}
	if f.count > maxValues {
		return nil, malformed("tag %d has %d values", tag, f.count)
	}
	raw, err := t.bytes(f.value, f.size)
	if err != nil {
		return nil, err
	}
	v := make([]float64, f.count)
	for i := range v {
		b := raw[int64(i)*typeSizes[f.kind]:]
		switch f.kind {
		case typeByte, typeUndefined:
			v[i] = float64(b[0])
		case typeSByte:
			v[i] = float64(int8(b[0]))
		case typeShort:
			v[i] = float64(t.order.Uint16(b))
		case typeSShort:
			v[i] = float64(int16(t.order.Uint16(b)))
		case typeLong, typeIFD:
			v[i] = float64(t.order.Uint32(b))
		case typeSLong:
			v[i] = float64(int32(t.order.Uint32(b)))
		case typeRational:
			v[i] = float64(t.order.Uint32(b)) / float64(t.order.Uint32(b[4:]))
		case typeSRational:
			v[i] = float64(int32(t.order.Uint32(b))) / float64(int32(t.order.Uint32(b[4:])))
		case typeFloat:
			v[i] = float64(math.Float32frombits(t.order.Uint32(b)))
		case typeDouble:
			v[i] = math.Float64frombits(t.order.Uint64(b))
		default:
			return nil, malformed("tag %d holds text, numbers are needed", tag)
		}
		if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, malformed("tag %d holds a number that is none", tag)
		}
	}
	return v, nil
}

// integers is numbers for integers of 32 bits without sign.
func (t *tree) integers(d *directory, tag uint16) ([]uint32, error) {
	numbers, err := t.numbers(d, tag)
	if err != nil {
		return nil, err
	}
	v := make([]uint32, len(numbers))
	for i, x := range numbers {
		if x < 0 || x > math.MaxUint32 || x != math.Trunc(x) {
			return nil, malformed("tag %d holds %g, an integer from 0 is needed", tag, x)
		}
		v[i] = uint32(x)
	}
	return v, nil
}

// integer returns the first value of a field, or what is to be assumed without it.
func (t *tree) integer(d *directory, tag uint16, otherwise uint32) (uint32, error) {
	v, err := t.integers(d, tag)
	if err != nil || len(v) == 0 {
		return otherwise, err
	}
	return v[0], nil
}
