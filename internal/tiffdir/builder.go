package tiffdir

import (
	"encoding/binary"
	"math"
	"slices"
)

// Builder collects the fields of a directory.
type Builder struct {
	Order binary.ByteOrder
	Nodes []Node
}

// Shorts adds a field of 16-bit integers.
func (t *Builder) Shorts(tag uint16, v ...int) {
	n := Node{Tag: tag, Kind: Short, Count: uint32(len(v))}
	for _, x := range v {
		n.Value = t.append16(n.Value, x)
	}
	t.Nodes = append(t.Nodes, n)
}

func (t *Builder) append16(b []byte, v int) []byte {
	b = append(b, 0, 0)
	t.Order.PutUint16(b[len(b)-2:], uint16(v))
	return b
}

// Longs adds a field of 32-bit integers.
func (t *Builder) Longs(tag uint16, v ...uint32) {
	n := Node{Tag: tag, Kind: Long, Count: uint32(len(v))}
	for _, x := range v {
		n.Value = t.append32(n.Value, x)
	}
	t.Nodes = append(t.Nodes, n)
}

func (t *Builder) append32(b []byte, v uint32) []byte {
	b = append(b, 0, 0, 0, 0)
	t.Order.PutUint32(b[len(b)-4:], v)
	return b
}

// Blob adds a field of bytes of a kind of one byte, if there are any.
func (t *Builder) Blob(tag, kind uint16, b []byte) {
	if len(b) > 0 {
		t.Nodes = append(t.Nodes, Node{Tag: tag, Kind: kind, Count: uint32(len(b)), Value: b})
	}
}

// Rational adds a field of one fraction.
func (t *Builder) Rational(tag uint16, v float64) {
	num, den := fraction(v)
	t.Nodes = append(t.Nodes, Node{Tag: tag, Kind: Rational, Count: 1, Value: t.append32(t.append32(nil, num), den)})
}

// fraction returns a fraction near v with the largest power of ten below it that
// fits.
func fraction(v float64) (num, den uint32) {
	den = 1
	for den < 1e6 && v*float64(den) != math.Trunc(v*float64(den)) && v*float64(den)*10 < math.MaxUint32 {
		den *= 10
	}
	return uint32(math.Round(v * float64(den))), den
}

// AppendDirectory appends a directory, its values and the directories below it
// to b, which begins at the even offset base of the file and has an even length.
// Values that stay in their place are there already.
func AppendDirectory(b []byte, base uint32, order binary.ByteOrder, nodes []Node) []byte {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int { return int(a.Tag) - int(b.Tag) })
	nodes = slices.CompactFunc(nodes, func(a, b Node) bool { return a.Tag == b.Tag })
	start := len(b)
	b = append(b, make([]byte, 2+len(nodes)*EntrySize+4)...)
	order.PutUint16(b[start:], uint16(len(nodes)))
	for i, n := range nodes {
		if len(b)%2 == 1 {
			b = append(b, 0) // Values begin on a word boundary.
		}
		at := start + 2 + i*EntrySize
		order.PutUint16(b[at:], n.Tag)
		order.PutUint16(b[at+2:], n.Kind)
		order.PutUint32(b[at+4:], n.Count)
		switch {
		case n.Sub != nil:
			order.PutUint32(b[at+8:], base+uint32(len(b)))
			b = AppendDirectory(b, base, order, n.Sub)
		case len(n.Value) <= 4:
			copy(b[at+8:at+12], n.Value)
		case n.InPlace:
			order.PutUint32(b[at+8:], uint32(n.At))
		default:
			order.PutUint32(b[at+8:], base+uint32(len(b)))
			b = append(b, n.Value...)
		}
	}
	return b
}
