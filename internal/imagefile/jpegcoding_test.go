package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/jpegblock"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
)

// goJPEG is what image/jpeg, which has tables of the Independent JPEG Group and 4:2:0, makes of
// an image.
func goJPEG(t testing.TB, m *Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m.ToImage(), &jpeg.Options{Quality: quality}))
	return b.Bytes()
}

// withSegment puts a segment behind the start of a JPEG.
func withSegment(file []byte, marker byte, data []byte) []byte {
	head := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(data)))
	return join(file[:2], head, data, file[2:])
}

// withTables replaces the tables of a JPEG whose first DQT segment has both.
func withTables(t testing.TB, file []byte, change func(table, i int, step byte) byte) []byte {
	t.Helper()
	at := bytes.Index(file, []byte{0xff, markerDQT})
	require.Positive(t, at)
	file = bytes.Clone(file)
	for table := range 2 {
		for i := range 64 {
			p := &file[at+4+65*table+1+i]
			*p = change(table, i, *p)
		}
	}
	return file
}

func TestQualityOfJPEGIsFound(t *testing.T) {
	for _, channels := range []int{1, 3} {
		m := smoothImage(9, 7, channels)
		for q := 1; q <= 100; q++ {
			c := decode(t, goJPEG(t, m, q)).JPEG
			require.NotNil(t, c)
			require.True(t, c.Standard, "quality %d", q)
			require.Equal(t, jpegblock.Steps(q)[0], jpegblock.Steps(c.Quality)[0], "quality %d, found %d", q, c.Quality)
			if q > 1 {
				require.Equal(t, q, c.Quality) // the tables of 1 are all 255, like no others
			}
			require.EqualValues(t, jpegblock.Steps(q)[0][8*3+1], c.Luma[8*3+1])
		}
	}
}

func TestCodingOfJPEG(t *testing.T) {
	for file, want := range map[string][2]int{"s420.jpg": {2, 2}, "s422.jpg": {2, 1}, "gray.jpg": {1, 1}, "prog.jpg": {1, 1}} {
		c := decode(t, testFile(t, file)).JPEG
		require.NotNil(t, c, file)
		require.Equal(t, want, [2]int{c.ChromaX, c.ChromaY}, file)
		require.Equal(t, file == "gray.jpg", c.Chroma == [64]uint16{}, file)
		require.NotZero(t, c.Luma[0])
	}
	for _, file := range []string{"cmyk.jpg", "rgb8.png", "lossy.webp"} {
		require.Nil(t, decode(t, testFile(t, file)).JPEG, file)
	}
	c := decode(t, encode(t, smoothImage(9, 7, 3), WriteOptions{Format: JPEG, Quality: 80})).JPEG
	require.Equal(t, JPEGCoding{Luma: c.Luma, Chroma: c.Chroma, ChromaX: 1, ChromaY: 1, Quality: 80, Standard: true, Noise: c.Noise}, *c)
}

// Tables that are no standard ones have the nearest quality.
func TestQualityOfOtherTables(t *testing.T) {
	m := smoothImage(16, 16, 3)
	file := withTables(t, goJPEG(t, m, 85), func(_, i int, step byte) byte {
		if i == 5 {
			return step + 1
		}
		return step
	})
	c := decode(t, file).JPEG
	require.False(t, c.Standard)
	require.Equal(t, 85, c.Quality)
	// A wide table, whose steps have 16 bits, and one of two components that differ.
	f := jpegFrame{}
	wide := []byte{0x10}
	for range 64 {
		wide = binary.BigEndian.AppendUint16(wide, 300)
	}
	narrow := append([]byte{1}, bytes.Repeat([]byte{7}, 64)...)
	f.readTables(append(wide, narrow...))
	f.readComponents([]byte{8, 0, 8, 0, 8, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 1})
	c = f.coding(image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio420), false)
	require.EqualValues(t, 300, c.Luma[63])
	require.EqualValues(t, 7, c.Chroma[63])
	require.Equal(t, 255, c.steps()[0][63])
}

// Turned by its orientation, an image has turned tables and factors.
func TestCodingFollowsTheOrientation(t *testing.T) {
	m := smoothImage(16, 8, 3)
	file := withTables(t, goJPEG(t, m, 85), func(_, i int, _ byte) byte { return byte(i + 1) })
	plain := decode(t, file).JPEG
	exif := append([]byte(metadata.EXIFMark), testEXIF(binary.BigEndian, 6, 16, 8)...)
	turned := decode(t, withSegment(file, markerAPP1, exif))
	require.Equal(t, [2]int{8, 16}, [2]int{turned.Width, turned.Height})
	for v := range 8 {
		for u := range 8 {
			require.Equal(t, plain.Luma[8*v+u], turned.JPEG.Luma[8*u+v])
			require.Equal(t, plain.Chroma[8*v+u], turned.JPEG.Chroma[8*u+v])
		}
	}
	c := JPEGCoding{ChromaX: 2, ChromaY: 1}
	c.transpose()
	require.Equal(t, JPEGCoding{ChromaX: 1, ChromaY: 2}, c)
}

// A JPEG that is written again has the tables that it had, unless a quality is given.
func TestJPEGKeepsItsTables(t *testing.T) {
	for _, channels := range []int{1, 3} {
		file := withTables(t, goJPEG(t, smoothImage(33, 20, 3), 85), func(_, i int, step byte) byte { return step + byte(i%2) })
		if channels == 1 {
			file = goJPEG(t, smoothImage(33, 20, 1), 60)
		}
		m := decode(t, file)
		again := decode(t, encode(t, m, WriteOptions{}))
		require.Equal(t, m.JPEG.Luma, again.JPEG.Luma)
		require.Equal(t, m.JPEG.Chroma, again.JPEG.Chroma)
		require.Greater(t, psnr(m.Pix, again.Pix), 35.0)

		asked := decode(t, encode(t, m, WriteOptions{Quality: 30}))
		require.Equal(t, 30, asked.JPEG.Quality)
		require.True(t, asked.JPEG.Standard)

		png := decode(t, encode(t, m, WriteOptions{Format: PNG}))
		require.Equal(t, DefaultQuality, decode(t, encode(t, png, WriteOptions{Format: JPEG})).JPEG.Quality)
	}
	m := smoothImage(8, 8, 3)
	m.JPEG = decode(t, goJPEG(t, smoothImage(8, 8, 1), 40)).JPEG // a grey image that has been coloured
	require.Equal(t, 40, decode(t, encode(t, m, WriteOptions{Format: JPEG})).JPEG.Quality)
	_, err := WriteOptions{Format: JPEG, Quality: -1}.plan(m)
	require.ErrorIs(t, err, ErrUnsupported)
}

// multiPictureIndex is the content of the segment that tells of several pictures, by their kinds.
func multiPictureIndex(order binary.AppendByteOrder, kinds ...uint32) []byte {
	b := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b = []byte("II*\x00")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(order.AppendUint16(b, tagPictures), tiffdir.Undefined)
	b = order.AppendUint32(b, uint32(pictureEntry*len(kinds)))
	b = order.AppendUint32(b, 8+2+tiffdir.EntrySize+4)
	b = order.AppendUint32(b, 0)
	for _, k := range kinds {
		b = append(order.AppendUint32(b, k), make([]byte, 12)...)
	}
	return append([]byte(multiPictureMark), b...)
}

func TestOtherPicturesInJPEGAreNoted(t *testing.T) {
	plain := goJPEG(t, smoothImage(9, 7, 3), 90)
	const primary, stereo = 0x030000, 0x020002
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for want, kinds := range map[string][]uint32{
			"only the first of 2 pictures in the file (MPO) is read, the rest is dropped": {1<<29 | stereo, stereo},
			"only the first of 3 pictures in the file (MPO) is read, the rest is dropped": {primary, 0, 0, kindFirstPreview},
			"": {1<<29 | primary, 1<<31 | kindFirstPreview, kindFirstPreview + 1},
		} {
			m := decode(t, withSegment(plain, markerAPP2, multiPictureIndex(order, kinds...)))
			if want == "" {
				require.Empty(t, m.Warnings)
				continue
			}
			require.Equal(t, []string{want}, m.Warnings)
		}
	}
	index := multiPictureIndex(binary.LittleEndian, stereo, stereo)
	for n := range len(index) {
		m := decode(t, withSegment(plain, markerAPP2, index[:n])) // cut off, it says nothing false
		require.LessOrEqual(t, len(m.Warnings), 1)
	}
}

func TestCMYKInJPEGIsNoted(t *testing.T) {
	m := decode(t, testFile(t, "cmyk.jpg"))
	require.Contains(t, fmt.Sprint(m.Warnings), "CMYK is converted to RGB")
	require.Equal(t, 3, m.Channels)
	require.NotEqual(t, color.CMYKModel, m.ToImage().ColorModel())
}

// withoutCodes is a JPEG without its Huffman tables, as the frames of Motion JPEG are.
func withoutCodes(file []byte) []byte {
	out := bytes.Clone(file[:2])
	for at := 2; ; {
		n := 2 + int(binary.BigEndian.Uint16(file[at+2:]))
		if file[at+1] == markerSOS {
			return append(out, file[at:]...)
		}
		if file[at+1] != markerDHT {
			out = append(out, file[at:at+n]...)
		}
		at += n
	}
}

func TestFrameOfMotionJPEG(t *testing.T) {
	file := goJPEG(t, smoothImage(33, 21, 3), 80) // by image/jpeg, which uses the usual codes
	require.Equal(t, decode(t, file).Pix, decode(t, withoutCodes(file)).Pix)
}
