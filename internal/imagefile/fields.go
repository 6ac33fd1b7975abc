package imagefile

import (
	"encoding/binary"
	"math"
)

// tiffTags collects the fields of a directory.
type tiffTags struct {
	order binary.ByteOrder
	nodes []node
}

func (t *tiffTags) shorts(tag uint16, v ...int) {
	n := node{tag: tag, kind: typeShort, count: uint32(len(v))}
	for _, x := range v {
		n.value = t.append16(n.value, x)
	}
	t.nodes = append(t.nodes, n)
}

func (t *tiffTags) append16(b []byte, v int) []byte {
	b = append(b, 0, 0)
	t.order.PutUint16(b[len(b)-2:], uint16(v))
	return b
}

func (t *tiffTags) longs(tag uint16, v ...uint32) {
	n := node{tag: tag, kind: typeLong, count: uint32(len(v))}
	for _, x := range v {
		n.value = t.append32(n.value, x)
	}
	t.nodes = append(t.nodes, n)
}

func (t *tiffTags) append32(b []byte, v uint32) []byte {
	b = append(b, 0, 0, 0, 0)
	t.order.PutUint32(b[len(b)-4:], v)
	return b
}

func (t *tiffTags) blob(tag, kind uint16, b []byte) {
	if len(b) > 0 {
		t.nodes = append(t.nodes, node{tag: tag, kind: kind, count: uint32(len(b)), value: b})
	}
}

func (t *tiffTags) rational(tag uint16, v float64) {
	num, den := fraction(v)
	t.nodes = append(t.nodes, node{tag: tag, kind: typeRational, count: 1, value: t.append32(t.append32(nil, num), den)})
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
