package imagefile

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// testImage returns an image of random samples that its depth can hold exactly.
func testImage(width, height, channels, depth int, alpha bool) *Image {
	rng := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	m := newImage(width, height, channels, depth, alpha)
	for i := range m.Pix {
		switch depth {
		case 8:
			m.Pix[i] = unit8[rng.IntN(256)]
		case 16:
			m.Pix[i] = unit16(uint16(rng.IntN(65536)))
		default:
			m.Pix[i] = float32(rng.NormFloat64())
		}
	}
	for i := range m.Alpha {
		m.Alpha[i] = uint16(rng.IntN(65536))
		if depth == 8 {
			m.Alpha[i] = uint16(rng.IntN(256)) * 257
		}
	}
	return m
}

// smoothImage returns an image that JPEG codes well, without symmetry.
func smoothImage(width, height, channels int) *Image {
	m := newImage(width, height, channels, 8, false)
	for c := range channels {
		p := m.Plane(c)
		for y := range height {
			for x := range width {
				v := 0.5 + 0.3*math.Sin(0.11*float64(x)+float64(c))*math.Cos(0.07*float64(y)) + 0.15*float64(x)/float64(width)
				p[y*width+x] = unit8[quantise(float32(v), 255)]
			}
		}
	}
	return m
}

func encode(t testing.TB, m *Image, opt WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Encode(t.Context(), &b, m, opt))
	return b.Bytes()
}

func decode(t testing.TB, data []byte) *Image {
	t.Helper()
	m, err := DecodeAt(bytes.NewReader(data), int64(len(data)), ReadOptions{})
	require.NoError(t, err)
	require.NoError(t, m.validate())
	return m
}

func psnr(a, b []float32) float64 {
	var s float64
	for i := range a {
		d := float64(a[i] - b[i])
		s += d * d
	}
	return -10 * math.Log10(s/float64(len(a)))
}

// testProfile returns something that looks like a profile of a colour space.
func testProfile(space string, size int) []byte {
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

// testEXIF returns EXIF with a description, an orientation, the sizes, a maker's
// note, a place on earth and a thumbnail.
func testEXIF(order tiffdir.ByteOrder, orientation, width, height int) []byte {
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

// readEXIF is EXIF with its first directory and that of the photograph.
type readEXIF struct {
	tiffdir.Tree
	main, photo []tiffdir.Field
	next        int64
}

func openEXIF(t *testing.T, data []byte) readEXIF {
	t.Helper()
	tree, first, err := tiffdir.Open(tiffdir.Memory(data))
	require.NoError(t, err)
	e := readEXIF{Tree: tree}
	e.main, e.next, err = tree.Directory(first)
	require.NoError(t, err)
	if photo, err := tree.Uint(e.main, tiffdir.TagEXIF, 0); err == nil && photo != 0 {
		e.photo, _, _ = tree.Directory(int64(photo)) // none if it is broken
	}
	return e
}

const testXMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>é</a></x:xmpmeta>`
