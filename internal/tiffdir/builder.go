package tiffdir

import (
	"math"
	"slices"
)

// Builder collects the fields of a directory.
type Builder struct {
	Order ByteOrder
	Nodes []Node
}

// Shorts adds a field of 16-bit integers.
func (t *Builder) Shorts(tag uint16, v ...int) {
	n := Node{Tag: tag, Kind: Short, Count: uint32(len(v))}
	for _, x := range v {
		n.Value = t.Order.AppendUint16(n.Value, uint16(x))
	}
	t.Nodes = append(t.Nodes, n)
}

// Longs adds a field of 32-bit integers.
func (t *Builder) Longs(tag uint16, v ...uint32) {
	n := Node{Tag: tag, Kind: Long, Count: uint32(len(v))}
	for _, x := range v {
		n.Value = t.Order.AppendUint32(n.Value, x)
	}
	t.Nodes = append(t.Nodes, n)
}

// Blob adds a field of bytes of a kind of one byte, if there are any.
func (t *Builder) Blob(tag, kind uint16, b []byte) {
	if len(b) > 0 {
		t.Nodes = append(t.Nodes, Node{Tag: tag, Kind: kind, Count: uint32(len(b)), Value: b})
	}
}

// Rationals adds a field of fractions.
func (t *Builder) Rationals(tag uint16, v ...float64) { t.fractions(tag, Rational, math.MaxUint32, v) }

// SRationals adds a field of fractions with a sign.
func (t *Builder) SRationals(tag uint16, v ...float64) { t.fractions(tag, SRational, math.MaxInt32, v) }

// fractions adds fractions near v, whose denominators are the largest powers of ten, up to a million, that are needed and
// leave the numerators below a bound.
func (t *Builder) fractions(tag, kind uint16, bound float64, v []float64) {
	n := Node{Tag: tag, Kind: kind, Count: uint32(len(v))}
	for _, x := range v {
		den := 1.
		for den < 1e6 && x*den != math.Trunc(x*den) && math.Abs(x)*den*10 < bound {
			den *= 10
		}
		n.Value = t.Order.AppendUint32(n.Value, uint32(int64(math.Round(x*den))))
		n.Value = t.Order.AppendUint32(n.Value, uint32(den))
	}
	t.Nodes = append(t.Nodes, n)
}

// Doubles adds a field of 64-bit floating-point numbers.
func (t *Builder) Doubles(tag uint16, v ...float64) {
	n := Node{Tag: tag, Kind: Double, Count: uint32(len(v))}
	for _, x := range v {
		n.Value = t.Order.AppendUint64(n.Value, math.Float64bits(x))
	}
	t.Nodes = append(t.Nodes, n)
}

// AppendDirectory appends a directory, its values and the directories below it
// to b, which begins at the even offset base of the file and has an even length.
// Values that stay in their place are there already.
func AppendDirectory(b []byte, base uint32, order ByteOrder, nodes []Node) []byte {
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
