package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A TIFF file, and EXIF, which is one without pixels, is a tree of directories.
// Each field of a directory has a tag, a type, a count, and either its value, if
// that fits into four bytes, or the offset of its value (TIFF 6.0, section 2).

// The types of field values that are looked at. Others are copied.
const (
	typeByte      = 1
	typeASCII     = 2
	typeShort     = 3
	typeLong      = 4
	typeRational  = 5
	typeUndefined = 7
	typeDouble    = 12
	typeIFD       = 13
	typeLong8     = 16 // this and the next in BigTIFF only
	typeIFD8      = 18
)

// Tags that both TIFF and EXIF use, and those of directories below others.
const (
	tagImageWidth       = 0x0100
	tagImageLength      = 0x0101
	tagImageDescription = 0x010e
	tagOrientation      = 0x0112
	tagXResolution      = 0x011a
	tagYResolution      = 0x011b
	tagResolutionUnit   = 0x0128
	tagEXIF             = 0x8769
	tagGPS              = 0x8825
	tagMakerNote        = 0x927c
	tagInteroperability = 0xa005
)

// typeSizes is the bytes of one value of each type; 0 is no type.
var typeSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

// entrySize is the bytes of a directory entry, but in BigTIFF.
const entrySize = 12

var errDirectory = errors.New("a directory points outside the data")

// byteSource is the bytes of a file. Its error says that they are not all there.
type byteSource interface {
	Bytes(offset, n int64) ([]byte, error)
}

// memory is a file in memory. Bytes copies them.
type memory []byte

func (m memory) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > int64(len(m))-n {
		return nil, io.ErrUnexpectedEOF
	}
	return bytes.Clone(m[offset : offset+n]), nil
}

// tiffTree reads directories.
type tiffTree struct {
	src   byteSource
	order binary.ByteOrder
	big   bool // BigTIFF: counts and offsets have eight bytes
}

// field is a directory entry whose value has not been read.
type field struct {
	tag, kind uint16
	count     uint32
	entry     int64 // offset of the entry
	value     int64 // offset of the value
	size      int64 // bytes of the value
}

// openTree reads the header and returns the offset of the first directory.
func openTree(src byteSource) (t tiffTree, first int64, err error) {
	head, err := src.Bytes(0, 8)
	if err != nil {
		return t, 0, errors.New("it is shorter than its header")
	}
	switch string(head[:2]) {
	case "II":
		t.order = binary.LittleEndian
	case "MM":
		t.order = binary.BigEndian
	default:
		return t, 0, errors.New("it does not begin with a TIFF header")
	}
	t.src = src
	const classic, bigTIFF = 42, 43
	switch t.order.Uint16(head[2:]) {
	case classic:
		return t, int64(t.order.Uint32(head[4:])), nil
	case bigTIFF:
		t.big = true
		if t.order.Uint16(head[4:]) != 8 || t.order.Uint16(head[6:]) != 0 {
			return t, 0, errors.New("its offsets have not the eight bytes of BigTIFF")
		}
		if head, err = src.Bytes(8, 8); err != nil {
			return t, 0, errors.New("it is shorter than its header")
		}
		return t, t.offset(head), nil
	}
	return t, 0, errors.New("it does not begin with a TIFF header")
}

// offset returns the offset, or count, at the start of p. One that no file has, which is
// 2⁶³ or more, is negative, and so outside the data.
func (t tiffTree) offset(p []byte) int64 {
	if t.big {
		return int64(t.order.Uint64(p))
	}
	return int64(t.order.Uint32(p))
}

// directory returns the fields of the directory at an offset, and the offset of
// the next directory, or 0. Fields of unknown type are left out, as the
// specification asks of readers.
func (t tiffTree) directory(offset int64) (fields []field, next int64, err error) {
	// The number of entries, and an entry: a tag, a type, a count, and a value or its offset.
	countSize, entrySize, wordSize := int64(2), int64(entrySize), int64(4)
	if t.big {
		countSize, entrySize, wordSize = 8, 20, 8
	}
	head, err := t.src.Bytes(offset, countSize)
	if err != nil {
		return nil, 0, errDirectory
	}
	n := int64(t.order.Uint16(head))
	if t.big {
		if n = t.offset(head); n < 0 || n > math.MaxUint16 {
			return nil, 0, errDirectory
		}
	}
	entries, err := t.src.Bytes(offset+countSize, n*entrySize)
	if err != nil {
		return nil, 0, errDirectory
	}
	for i := range n {
		e := entries[i*entrySize : (i+1)*entrySize]
		f := field{
			tag:   t.order.Uint16(e),
			kind:  t.order.Uint16(e[2:]),
			entry: offset + countSize + i*entrySize,
		}
		count := t.offset(e[4:])
		if int(f.kind) >= len(typeSizes) || typeSizes[f.kind] == 0 || count < 0 || count > math.MaxUint32 {
			continue
		}
		f.count = uint32(count)
		f.size = typeSizes[f.kind] * count
		f.value = f.entry + 4 + wordSize
		if f.size > wordSize {
			f.value = t.offset(e[4+wordSize:])
		}
		fields = append(fields, f)
	}
	// Some writers leave the offset of the next directory out at the end of a file.
	if tail, err := t.src.Bytes(offset+countSize+n*entrySize, wordSize); err == nil {
		next = t.offset(tail)
	}
	return fields, next, nil
}

// bytes returns the value of a field as it is stored.
func (t tiffTree) bytes(f field) ([]byte, error) { return t.src.Bytes(f.value, f.size) }

func find(fields []field, tag uint16) (field, bool) {
	for _, f := range fields {
		if f.tag == tag {
			return f, true
		}
	}
	return field{}, false
}

// uints returns the values of a field of unsigned integers.
func (t tiffTree) uints(f field) ([]int64, error) {
	switch f.kind {
	case typeByte, typeShort, typeLong, typeIFD, typeLong8, typeIFD8:
	default:
		return nil, fmt.Errorf("tag %d has type %d, an unsigned integer is needed", f.tag, f.kind)
	}
	raw, err := t.bytes(f)
	if err != nil {
		return nil, fmt.Errorf("the value of tag %d lies outside the file", f.tag)
	}
	v := make([]int64, f.count)
	for i := range v {
		switch f.kind {
		case typeByte:
			v[i] = int64(raw[i])
		case typeShort:
			v[i] = int64(t.order.Uint16(raw[2*i:]))
		case typeLong, typeIFD:
			v[i] = int64(t.order.Uint32(raw[4*i:]))
		default:
			if v[i] = int64(t.order.Uint64(raw[8*i:])); v[i] < 0 {
				return nil, fmt.Errorf("a value of tag %d is above 2⁶³", f.tag)
			}
		}
	}
	return v, nil
}

// uint returns the first value of a field, or what is to be assumed without it.
func (t tiffTree) uint(fields []field, tag uint16, otherwise uint32) (uint32, error) {
	f, ok := find(fields, tag)
	if !ok || f.count == 0 {
		return otherwise, nil
	}
	f.count = 1
	f.size = min(f.size, typeSizes[f.kind])
	v, err := t.uints(f)
	if err != nil {
		return 0, err
	}
	if v[0] > math.MaxUint32 {
		return 0, fmt.Errorf("the value of tag %d is too large", tag)
	}
	return uint32(v[0]), nil
}

// rational returns the first value of a field of fractions, or 0.
func (t tiffTree) rational(fields []field, tag uint16) float64 {
	f, ok := find(fields, tag)
	if !ok || f.kind != typeRational || f.count == 0 {
		return 0
	}
	raw, err := t.src.Bytes(f.value, 8)
	if err != nil {
		return 0
	}
	den := t.order.Uint32(raw[4:])
	if den == 0 {
		return 0
	}
	return float64(t.order.Uint32(raw)) / float64(den)
}

// node is a field with its value, or with the directory that it points to.
type node struct {
	tag, kind uint16
	count     uint32
	value     []byte // in the byte order of the tree
	sub       []node
	at        int64 // the offset at which maker's notes were read
	inPlace   bool  // they stay at that offset
}

// subdirectories are the tags that point to a directory: EXIF, GPS and
// interoperability.
var subdirectories = []uint16{tagEXIF, tagGPS, tagInteroperability}

// collect reads fields and the directories below them, as far as keep says so. A
// field whose value lies outside the data has no value to keep and is left out.
// budget bounds the bytes, since many fields can name the same ones.
func (t tiffTree) collect(fields []field, keep func(tag uint16) bool, depth int, budget *int64) []node {
	var nodes []node
	for _, f := range fields {
		if !keep(f.tag) {
			continue
		}
		if slices.Contains(subdirectories, f.tag) {
			if sub := t.collectSub(f, depth, budget); len(sub) > 0 {
				nodes = append(nodes, node{tag: f.tag, kind: typeLong, count: 1, sub: sub})
			}
			continue
		}
		if *budget -= f.size + entrySize; *budget < 0 {
			return nodes
		}
		if f.kind > typeIFD {
			if n, ok := t.narrow(f); ok {
				nodes = append(nodes, n)
			}
			continue
		}
		raw, err := t.src.Bytes(f.value, f.size)
		if err != nil {
			continue
		}
		n := node{tag: f.tag, kind: f.kind, count: f.count, value: raw}
		if f.tag == tagMakerNote {
			n.at = f.value
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// narrow returns a field of BigTIFF's integers of eight bytes as one of four, if they fit.
func (t tiffTree) narrow(f field) (node, bool) {
	v, err := t.uints(f)
	if err != nil || slices.Max(append(v, 0)) > math.MaxUint32 {
		return node{}, false
	}
	n := node{tag: f.tag, kind: typeLong, count: f.count, value: make([]byte, 4*len(v))}
	for i, x := range v {
		t.order.PutUint32(n.value[4*i:], uint32(x))
	}
	return n, true
}

func (t tiffTree) collectSub(f field, depth int, budget *int64) []node {
	if depth == 0 {
		return nil
	}
	f.count, f.size = min(f.count, 1), min(f.size, typeSizes[f.kind])
	offset, err := t.uints(f)
	if err != nil || len(offset) == 0 || offset[0] == 0 {
		return nil
	}
	fields, _, err := t.directory(offset[0])
	if err != nil {
		return nil
	}
	return t.collect(fields, func(uint16) bool { return true }, depth-1, budget)
}

// appendDirectory appends a directory, its values and the directories below it
// to b, which begins at the even offset base of the file and has an even length.
// Values that stay in their place are there already.
func appendDirectory(b []byte, base uint32, order binary.ByteOrder, nodes []node) []byte {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b node) int { return int(a.tag) - int(b.tag) })
	nodes = slices.CompactFunc(nodes, func(a, b node) bool { return a.tag == b.tag })
	start := len(b)
	b = append(b, make([]byte, 2+len(nodes)*entrySize+4)...)
	order.PutUint16(b[start:], uint16(len(nodes)))
	for i, n := range nodes {
		if len(b)%2 == 1 {
			b = append(b, 0) // Values begin on a word boundary.
		}
		at := start + 2 + i*entrySize
		order.PutUint16(b[at:], n.tag)
		order.PutUint16(b[at+2:], n.kind)
		order.PutUint32(b[at+4:], n.count)
		switch {
		case n.sub != nil:
			order.PutUint32(b[at+8:], base+uint32(len(b)))
			b = appendDirectory(b, base, order, n.sub)
		case len(n.value) <= 4:
			copy(b[at+8:at+12], n.value)
		case n.inPlace:
			order.PutUint32(b[at+8:], uint32(n.at))
		default:
			order.PutUint32(b[at+8:], base+uint32(len(b)))
			b = append(b, n.value...)
		}
	}
	return b
}
