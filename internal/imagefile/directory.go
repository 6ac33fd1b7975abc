package imagefile

import (
	"encoding/binary"
	"errors"
	"fmt"
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
)

// typeSizes is the bytes of one value of each type; index 0 is no type.
var typeSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4}

// entrySize is the bytes of a directory entry.
const entrySize = 12

var errDirectory = errors.New("a directory points outside the data")

// tiffTree reads directories.
type tiffTree struct {
	src   source
	order binary.ByteOrder
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
func openTree(src source) (t tiffTree, first int64, err error) {
	head, err := src.bytes(0, 8)
	if err != nil {
		return t, 0, errors.New("it is shorter than its header")
	}
	switch string(head[:4]) {
	case "II*\x00":
		t.order = binary.LittleEndian
	case "MM\x00*":
		t.order = binary.BigEndian
	default:
		return t, 0, errors.New("it does not begin with a TIFF header")
	}
	t.src = src
	return t, int64(t.order.Uint32(head[4:])), nil
}

// directory returns the fields of the directory at an offset, and the offset of
// the next directory, or 0. Fields of unknown type are left out, as the
// specification asks of readers.
func (t tiffTree) directory(offset int64) (fields []field, next int64, err error) {
	head, err := t.src.bytes(offset, 2)
	if err != nil {
		return nil, 0, errDirectory
	}
	n := int64(t.order.Uint16(head))
	entries, err := t.src.bytes(offset+2, n*entrySize)
	if err != nil {
		return nil, 0, errDirectory
	}
	for i := range n {
		e := entries[i*entrySize : (i+1)*entrySize]
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
		fields = append(fields, f)
	}
	// Some writers leave the offset of the next directory out at the end of a file.
	if tail, err := t.src.bytes(offset+2+n*entrySize, 4); err == nil {
		next = int64(t.order.Uint32(tail))
	}
	return fields, next, nil
}

func find(fields []field, tag uint16) (field, bool) {
	for _, f := range fields {
		if f.tag == tag {
			return f, true
		}
	}
	return field{}, false
}

// uints returns the values of a field of unsigned integers.
func (t tiffTree) uints(f field) ([]uint32, error) {
	if f.kind != typeByte && f.kind != typeShort && f.kind != typeLong && f.kind != typeIFD {
		return nil, fmt.Errorf("tag %d has type %d, an unsigned integer is needed", f.tag, f.kind)
	}
	raw, err := t.src.bytes(f.value, f.size)
	if err != nil {
		return nil, fmt.Errorf("the value of tag %d lies outside the file", f.tag)
	}
	v := make([]uint32, f.count)
	for i := range v {
		switch f.kind {
		case typeByte:
			v[i] = uint32(raw[i])
		case typeShort:
			v[i] = uint32(t.order.Uint16(raw[2*i:]))
		default:
			v[i] = t.order.Uint32(raw[4*i:])
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
	return v[0], nil
}

// rational returns the first value of a field of fractions, or 0.
func (t tiffTree) rational(fields []field, tag uint16) float64 {
	f, ok := find(fields, tag)
	if !ok || f.kind != typeRational || f.count == 0 {
		return 0
	}
	raw, err := t.src.bytes(f.value, 8)
	if err != nil {
		return 0
	}
	den := t.order.Uint32(raw[4:])
	if den == 0 {
		return 0
	}
	return float64(t.order.Uint32(raw)) / float64(den)
}

// resolution returns what tags 282, 283 and 296 say.
func (t tiffTree) resolution(fields []field) Resolution {
	unit, err := t.uint(fields, tagResolutionUnit, 2)
	if err != nil {
		return Resolution{} // A unit of the wrong type says nothing.
	}
	units := map[uint32]Unit{1: Aspect, 2: Inch, 3: Centimetre}
	r := Resolution{X: t.rational(fields, tagXResolution), Y: t.rational(fields, tagYResolution), Unit: units[unit]}
	if !r.known() {
		return Resolution{}
	}
	return r
}

// node is a field with its value, or with the directory that it points to.
type node struct {
	tag, kind uint16
	count     uint32
	value     []byte // in the byte order of the tree
	sub       []node
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
		raw, err := t.src.bytes(f.value, f.size)
		if err != nil {
			continue
		}
		nodes = append(nodes, node{tag: f.tag, kind: f.kind, count: f.count, value: raw})
	}
	return nodes
}

func (t tiffTree) collectSub(f field, depth int, budget *int64) []node {
	if depth == 0 {
		return nil
	}
	offset, err := t.uint([]field{f}, f.tag, 0)
	if err != nil || offset == 0 {
		return nil
	}
	fields, _, err := t.directory(int64(offset))
	if err != nil {
		return nil
	}
	return t.collect(fields, func(uint16) bool { return true }, depth-1, budget)
}

// appendDirectory appends a directory, its values and the directories below it
// to b, which begins at the even offset base of the file and has an even length.
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
		default:
			order.PutUint32(b[at+8:], base+uint32(len(b)))
			b = append(b, n.value...)
		}
	}
	return b
}
