// Package tiffdir reads and writes the directories of TIFF files, of DNG, and of EXIF, which is a TIFF file without pixels. Each field
// of a directory has a tag, a type, a count, and either its value, if that fits into four bytes, or the offset of its value
// (TIFF 6.0, section 2). BigTIFF is read.
package tiffdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// The types of field values.
const (
	Byte      = 1
	ASCII     = 2
	Short     = 3
	Long      = 4
	Rational  = 5
	SByte     = 6
	Undefined = 7
	SShort    = 8
	SLong     = 9
	SRational = 10
	Float     = 11
	Double    = 12
	IFD       = 13
	Long8     = 16 // this and the next in BigTIFF only
	IFD8      = 18
)

// TypeSizes is the bytes of one value of each type; 0 is no type.
var TypeSizes = [...]int64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

// EntrySize is the bytes of a directory entry, but in BigTIFF.
const EntrySize = 12

// ByteOrder is that of a file: binary.LittleEndian or binary.BigEndian.
type ByteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var errDirectory = errors.New("a directory points outside the data")

// Source is the bytes of a file. Its error says that they are not all there.
type Source interface {
	Bytes(offset, n int64) ([]byte, error)
}

// Memory is a file in memory.
type Memory []byte

// Bytes returns a copy of n bytes at an offset.
func (m Memory) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > int64(len(m))-n {
		return nil, io.ErrUnexpectedEOF
	}
	return bytes.Clone(m[offset : offset+n]), nil
}

// Tree reads directories.
type Tree struct {
	src   Source
	Order ByteOrder
	Big   bool // BigTIFF: counts and offsets have eight bytes
}

// Field is a directory entry whose value has not been read.
type Field struct {
	Tag, Kind uint16
	Count     uint32
	Entry     int64 // offset of the entry
	Value     int64 // offset of the value
	Size      int64 // bytes of the value
}

// Open reads the header and returns the offset of the first directory.
func Open(src Source) (t Tree, first int64, err error) {
	head, err := src.Bytes(0, 8)
	if err != nil {
		return t, 0, errors.New("it is shorter than its header")
	}
	switch string(head[:2]) {
	case "II":
		t.Order = binary.LittleEndian
	case "MM":
		t.Order = binary.BigEndian
	default:
		return t, 0, errors.New("it does not begin with a TIFF header")
	}
	t.src = src
	const classic, bigTIFF = 42, 43
	switch t.Order.Uint16(head[2:]) {
	case classic:
		return t, int64(t.Order.Uint32(head[4:])), nil
	case bigTIFF:
		t.Big = true
		if t.Order.Uint16(head[4:]) != 8 || t.Order.Uint16(head[6:]) != 0 {
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
func (t Tree) offset(p []byte) int64 {
	if t.Big {
		return int64(t.Order.Uint64(p))
	}
	return int64(t.Order.Uint32(p))
}

// Directory returns the fields of the directory at an offset, and the offset of
// the next directory, or 0. Fields of unknown type are left out, as the
// specification asks of readers.
func (t Tree) Directory(offset int64) (fields []Field, next int64, err error) {
	// The number of entries, and an entry: a tag, a type, a count, and a value or its offset.
	countSize, entrySize, wordSize := int64(2), int64(EntrySize), int64(4)
	if t.Big {
		countSize, entrySize, wordSize = 8, 20, 8
	}
	head, err := t.src.Bytes(offset, countSize)
	if err != nil {
		return nil, 0, errDirectory
	}
	n := int64(t.Order.Uint16(head))
	if t.Big {
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
		f := Field{
			Tag:   t.Order.Uint16(e),
			Kind:  t.Order.Uint16(e[2:]),
			Entry: offset + countSize + i*entrySize,
		}
		count := t.offset(e[4:])
		if int(f.Kind) >= len(TypeSizes) || TypeSizes[f.Kind] == 0 || count < 0 || count > math.MaxUint32 {
			continue
		}
		f.Count = uint32(count)
		f.Size = TypeSizes[f.Kind] * count
		f.Value = f.Entry + 4 + wordSize
		if f.Size > wordSize {
			f.Value = t.offset(e[4+wordSize:])
		}
		fields = append(fields, f)
	}
	// Some writers leave the offset of the next directory out at the end of a file.
	if tail, err := t.src.Bytes(offset+countSize+n*entrySize, wordSize); err == nil {
		next = t.offset(tail)
	}
	return fields, next, nil
}

// Bytes returns the value of a field as it is stored.
func (t Tree) Bytes(f Field) ([]byte, error) { return t.src.Bytes(f.Value, f.Size) }

// Find returns the first field with a tag.
func Find(fields []Field, tag uint16) (Field, bool) {
	for _, f := range fields {
		if f.Tag == tag {
			return f, true
		}
	}
	return Field{}, false
}

// First returns the field with its first n values only.
func (f Field) First(n uint32) Field {
	f.Count = min(f.Count, n)
	f.Size = TypeSizes[f.Kind] * int64(f.Count)
	return f
}

// Uints returns the values of a field of unsigned integers.
func (t Tree) Uints(f Field) ([]int64, error) {
	switch f.Kind {
	case Byte, Short, Long, IFD, Long8, IFD8:
	default:
		return nil, fmt.Errorf("tag %d has type %d, an unsigned integer is needed", f.Tag, f.Kind)
	}
	raw, err := t.Bytes(f)
	if err != nil {
		return nil, fmt.Errorf("the value of tag %d lies outside the file", f.Tag)
	}
	v := make([]int64, f.Count)
	for i := range v {
		switch f.Kind {
		case Byte:
			v[i] = int64(raw[i])
		case Short:
			v[i] = int64(t.Order.Uint16(raw[2*i:]))
		case Long, IFD:
			v[i] = int64(t.Order.Uint32(raw[4*i:]))
		default:
			if v[i] = int64(t.Order.Uint64(raw[8*i:])); v[i] < 0 {
				return nil, fmt.Errorf("a value of tag %d is above 2⁶³", f.Tag)
			}
		}
	}
	return v, nil
}

// Uint returns the first value of a field, or what is to be assumed without it.
func (t Tree) Uint(fields []Field, tag uint16, otherwise uint32) (uint32, error) {
	f, ok := Find(fields, tag)
	if !ok || f.Count == 0 {
		return otherwise, nil
	}
	v, err := t.Uints(f.First(1))
	if err != nil {
		return 0, err
	}
	if v[0] > math.MaxUint32 {
		return 0, fmt.Errorf("the value of tag %d is too large", tag)
	}
	return uint32(v[0]), nil
}

// Rational returns the first value of a field of fractions, or 0.
func (t Tree) Rational(fields []Field, tag uint16) float64 {
	f, ok := Find(fields, tag)
	if !ok || f.Kind != Rational || f.Count == 0 {
		return 0
	}
	v, err := t.Numbers(f.First(1))
	if err != nil {
		return 0
	}
	return v[0]
}

// Numbers returns the values of a field of numbers of any type. A fraction whose denominator is 0 is none.
func (t Tree) Numbers(f Field) ([]float64, error) {
	raw, err := t.Bytes(f)
	if err != nil {
		return nil, fmt.Errorf("the value of tag %d lies outside the file", f.Tag)
	}
	v := make([]float64, f.Count)
	for i := range v {
		b := raw[int64(i)*TypeSizes[f.Kind]:]
		switch f.Kind {
		case Byte, Undefined:
			v[i] = float64(b[0])
		case SByte:
			v[i] = float64(int8(b[0]))
		case Short:
			v[i] = float64(t.Order.Uint16(b))
		case SShort:
			v[i] = float64(int16(t.Order.Uint16(b)))
		case Long, IFD:
			v[i] = float64(t.Order.Uint32(b))
		case SLong:
			v[i] = float64(int32(t.Order.Uint32(b)))
		case Rational:
			v[i] = float64(t.Order.Uint32(b)) / float64(t.Order.Uint32(b[4:]))
		case SRational:
			v[i] = float64(int32(t.Order.Uint32(b))) / float64(int32(t.Order.Uint32(b[4:])))
		case Float:
			v[i] = float64(math.Float32frombits(t.Order.Uint32(b)))
		case Long8, IFD8:
			v[i] = float64(t.Order.Uint64(b))
		case Double:
			v[i] = math.Float64frombits(t.Order.Uint64(b))
		default:
			return nil, fmt.Errorf("tag %d has type %d, numbers are needed", f.Tag, f.Kind)
		}
		if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, fmt.Errorf("tag %d holds a number that is none", f.Tag)
		}
	}
	return v, nil
}

// Node is a field with its value, or with the directory that it points to.
type Node struct {
	Tag, Kind uint16
	Count     uint32
	Value     []byte // in the byte order of the tree
	Sub       []Node
	At        int64 // the offset at which maker's notes were read
	InPlace   bool  // they stay at that offset
}

// Subdirectories are the tags that point to a directory: EXIF, GPS and
// interoperability.
var Subdirectories = []uint16{TagEXIF, TagGPS, TagInteroperability}

// Collect reads fields and the directories below them, as far as keep says so. A
// field whose value lies outside the data has no value to keep and is left out.
// budget bounds the bytes, since many fields can name the same ones.
func (t Tree) Collect(fields []Field, keep func(tag uint16) bool, depth int, budget *int64) []Node {
	var nodes []Node
	for _, f := range fields {
		if !keep(f.Tag) {
			continue
		}
		if slices.Contains(Subdirectories, f.Tag) {
			if sub := t.collectSub(f, depth, budget); len(sub) > 0 {
				nodes = append(nodes, Node{Tag: f.Tag, Kind: Long, Count: 1, Sub: sub})
			}
			continue
		}
		if *budget -= f.Size + EntrySize; *budget < 0 {
			return nodes
		}
		if f.Kind > IFD {
			if n, ok := t.narrow(f); ok {
				nodes = append(nodes, n)
			}
			continue
		}
		raw, err := t.src.Bytes(f.Value, f.Size)
		if err != nil {
			continue
		}
		n := Node{Tag: f.Tag, Kind: f.Kind, Count: f.Count, Value: raw}
		if f.Tag == TagMakerNote {
			n.At = f.Value
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// narrow returns a field of BigTIFF's integers of eight bytes as one of four, if they fit.
func (t Tree) narrow(f Field) (Node, bool) {
	v, err := t.Uints(f)
	if err != nil || slices.Max(append(v, 0)) > math.MaxUint32 {
		return Node{}, false
	}
	n := Node{Tag: f.Tag, Kind: Long, Count: f.Count, Value: make([]byte, 4*len(v))}
	for i, x := range v {
		t.Order.PutUint32(n.Value[4*i:], uint32(x))
	}
	return n, true
}

func (t Tree) collectSub(f Field, depth int, budget *int64) []Node {
	if depth == 0 {
		return nil
	}
	offset, err := t.Uints(f.First(1))
	if err != nil || len(offset) == 0 || offset[0] == 0 {
		return nil
	}
	fields, _, err := t.Directory(offset[0])
	if err != nil {
		return nil
	}
	return t.Collect(fields, func(uint16) bool { return true }, depth-1, budget)
}
