package dng

import (
	"io"
	"math"

	"github.com/averaged/imaging/internal/tiffdir"
)

// Tags that are looked at, beside those of package tiffdir (DNG specification 1.6, chapters 4 to 6).
const (
	tagNewSubFileType         = 254
	tagCFARepeatPatternDim    = 33421
	tagCFAPattern             = 33422
	tagCFAPlaneColor          = 50710
	tagCFALayout              = 50711
	tagLinearizationTable     = 50712
	tagBlackLevelRepeatDim    = 50713
	tagBlackLevel             = 50714
	tagBlackLevelDeltaH       = 50715
	tagBlackLevelDeltaV       = 50716
	tagWhiteLevel             = 50717
	tagUniqueCameraModel      = 50708
	tagDNGBackwardVersion     = 50707
	tagCalibrationIlluminant1 = 50778
	tagColorMatrix1           = 50721
	tagColorMatrix2           = 50722
	tagAsShotNeutral          = 50728
	tagBaselineExposure       = 50730
	tagActiveArea             = 50829
	tagMaskedAreas            = 50830
	tagRawImageDigest         = 50972
	tagSubTileBlockSize       = 50974
	tagRowInterleaveFactor    = 50975
	tagNoiseProfile           = 51041
	tagNewRawImageDigest      = 51111
	tagColumnInterleave       = 52547
)

const (
	// maxValues bounds the numbers of a field. The largest are the places of tiles.
	maxValues = 1 << 22
	// maxDirectories bounds the directories of a file, and maxFields the fields of one. Real ones
	// have up to twenty, and two hundred.
	maxDirectories = 256
	maxFields      = 4096
)

// contents is the bytes of a file.
type contents struct {
	io.ReaderAt
	size int64
}

// Bytes returns n bytes at an offset. It fails, before it allocates, if they are not all there.
func (s contents) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > s.size-n {
		return nil, malformed("the file ends early (a truncated file?)")
	}
	b := make([]byte, n)
	if _, err := s.ReadAt(b, offset); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// tree reads the directories of a TIFF file.
type tree struct {
	tiff tiffdir.Tree
	file contents
}

// directory is one of the directories of a file.
type directory struct {
	at, end int64 // its bytes
	fields  []tiffdir.Field
	main    bool // the first one, or one that it names as SubIFD
}

// openTree reads the header and returns the offset of the first directory.
func openTree(r io.ReaderAt, size int64) (*tree, int64, error) {
	file := contents{r, size}
	t, first, err := tiffdir.Open(file)
	if t.Big {
		return nil, 0, unsupported("64-bit offsets (BigTIFF)")
	}
	if err != nil {
		return nil, 0, malformed("%v", err)
	}
	return &tree{t, file}, first, nil
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
		for _, tag := range []uint16{tiffdir.TagSubIFDs, tiffdir.TagEXIF, tiffdir.TagGPS, tiffdir.TagInteroperability} {
			if f, ok := d.find(tag); ok && f.Count > maxDirectories {
				return nil, malformed("more than %d directories", maxDirectories)
			}
			below, err := t.integers(d, tag)
			if err != nil {
				return nil, err
			}
			for _, offset := range below {
				queue = append(queue, place{int64(offset), tag == tiffdir.TagSubIFDs && len(found) == 1, false})
			}
		}
	}
	if len(found) == 0 {
		return nil, malformed("it has no directory")
	}
	return found, nil
}

// directory reads the directory at an offset, and returns the offset of the next one, or 0.
func (t *tree) directory(offset int64) (*directory, int64, error) {
	head, err := t.file.Bytes(offset, 2)
	if err != nil {
		return nil, 0, err
	}
	n := int64(t.tiff.Order.Uint16(head))
	if n > maxFields {
		return nil, 0, malformed("a directory of %d fields", n)
	}
	fields, next, err := t.tiff.Directory(offset)
	if err != nil {
		return nil, 0, malformed("%v (a truncated file?)", err)
	}
	end := offset + 2 + n*tiffdir.EntrySize
	if end+4 <= t.file.size { // where the offset of the next one stands
		end += 4
	}
	return &directory{at: offset, end: end, fields: fields}, next, nil
}

func (d *directory) find(tag uint16) (tiffdir.Field, bool) { return tiffdir.Find(d.fields, tag) }

// numbers returns the values of a field, or none if the directory does not have it. A fraction
// whose denominator is 0 is none.
func (t *tree) numbers(d *directory, tag uint16) ([]float64, error) {
	f, ok := d.find(tag)
	if !ok {
		return nil, nil
	}
	if f.Count > maxValues {
		return nil, malformed("tag %d has %d values", tag, f.Count)
	}
	v, err := t.tiff.Numbers(f)
	if err != nil {
		return nil, malformed("%v", err)
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
