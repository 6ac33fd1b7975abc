package imagetest

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/tiffdir"
)

// Profile returns something that looks like a profile of a colour space.
func Profile(space string, size int) []byte {
	p := make([]byte, size)
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	for i := range p {
		p[i] = byte(rng.IntN(256))
	}
	binary.BigEndian.PutUint32(p, uint32(size))
	copy(p[16:], space)
	copy(p[36:], "acsp")
	return p
}

// EXIF returns EXIF with a description, an orientation, the sizes, a maker's
// note, a place on earth and a thumbnail.
func EXIF(order tiffdir.ByteOrder, orientation, width, height int) []byte {
	short := func(v int) []byte { b := make([]byte, 2); order.PutUint16(b, uint16(v)); return b }
	long := func(v int) []byte { b := make([]byte, 4); order.PutUint32(b, uint32(v)); return b }
	head := []byte("II*\x00\x08\x00\x00\x00")
	if order == tiffdir.ByteOrder(binary.BigEndian) {
		head = []byte("MM\x00*\x00\x00\x00\x08")
	}
	thumbnail := []byte("\xff\xd8a small old picture\xff\xd9")
	b := tiffdir.AppendDirectory(head, 0, order, []tiffdir.Node{
		{Tag: 0x010f, Kind: tiffdir.ASCII, Count: 6, Value: []byte("Maker\x00")},
		{Tag: tiffdir.TagOrientation, Kind: tiffdir.Short, Count: 1, Value: short(orientation)},
		{Tag: tiffdir.TagXResolution, Kind: tiffdir.Rational, Count: 1, Value: append(long(300), long(1)...)},
		{Tag: tiffdir.TagYResolution, Kind: tiffdir.Rational, Count: 1, Value: append(long(150), long(1)...)},
		{Tag: tiffdir.TagResolutionUnit, Kind: tiffdir.Short, Count: 1, Value: short(2)},
		{Tag: tiffdir.TagEXIF, Kind: tiffdir.Long, Count: 1, Sub: []tiffdir.Node{
			{Tag: 0x9000, Kind: tiffdir.Undefined, Count: 4, Value: []byte("0232")},
			{Tag: 0x927c, Kind: tiffdir.Undefined, Count: 10, Value: []byte("maker note")},
			{Tag: tiffdir.TagPixelXDimension, Kind: tiffdir.Short, Count: 1, Value: short(width)},
			{Tag: tiffdir.TagPixelYDimension, Kind: tiffdir.Long, Count: 1, Value: long(height)},
		}},
		{Tag: tiffdir.TagGPS, Kind: tiffdir.Long, Count: 1, Sub: []tiffdir.Node{
			{Tag: 1, Kind: tiffdir.ASCII, Count: 2, Value: []byte("N\x00")},
		}},
	})
	link := 8 + 2 + int(order.Uint16(b[8:]))*tiffdir.EntrySize
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	order.PutUint32(b[link:], uint32(len(b)))
	// The thumbnail's directory, and behind it the thumbnail.
	at := len(b) + 2 + 2*tiffdir.EntrySize + 4
	b = tiffdir.AppendDirectory(b, 0, order, []tiffdir.Node{
		{Tag: tiffdir.TagThumbnailOffset, Kind: tiffdir.Long, Count: 1, Value: long(at)},
		{Tag: tiffdir.TagThumbnailLength, Kind: tiffdir.Long, Count: 1, Value: long(len(thumbnail))},
	})
	return append(b, thumbnail...)
}

const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>é</a></x:xmpmeta>`
