package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/jpegblock"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

func TestQualityOfJPEGIsFound(t *testing.T) {
	for _, channels := range []int{1, 3} {
		m := imagetest.Smooth(9, 7, channels)
		for q := 1; q <= 100; q++ {
			c := pictureOf(t, imagetest.GoJPEG(t, m, q)).JPEG
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

// Tables that are no standard ones have the nearest quality.
func TestQualityOfOtherTables(t *testing.T) {
	m := imagetest.Smooth(16, 16, 3)
	file := imagetest.WithTables(t, imagetest.GoJPEG(t, m, 85), func(_, i int, step byte) byte {
		if i == 5 {
			return step + 1
		}
		return step
	})
	c := pictureOf(t, file).JPEG
	require.False(t, c.Standard)
	require.Equal(t, 85, c.Quality)
	// A wide table, whose steps have 16 bits, and one of two components that differ.
	f := frameHeader{}
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
	require.Equal(t, 255, Steps(c)[0][63])
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
	plain := imagetest.GoJPEG(t, imagetest.Smooth(9, 7, 3), 90)
	const primary, stereo = 0x030000, 0x020002
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for want, kinds := range map[string][]uint32{
			"only the first of 2 pictures in the file (MPO) is read, the rest is dropped": {1<<29 | stereo, stereo},
			"only the first of 3 pictures in the file (MPO) is read, the rest is dropped": {primary, 0, 0, kindFirstPreview},
			"": {1<<29 | primary, 1<<31 | kindFirstPreview, kindFirstPreview + 1},
		} {
			_, warnings := decode(t, imagetest.WithSegment(plain, segment.APP2, multiPictureIndex(order, kinds...)))
			if want == "" {
				require.Empty(t, warnings)
				continue
			}
			require.Equal(t, []string{want}, warnings)
		}
	}
	index := multiPictureIndex(binary.LittleEndian, stereo, stereo)
	for n := range len(index) {
		_, warnings := decode(t, imagetest.WithSegment(plain, segment.APP2, index[:n])) // cut off, it says nothing false
		require.LessOrEqual(t, len(warnings), 1)
	}
}

func TestCMYKInJPEGIsNoted(t *testing.T) {
	m := pictureOf(t, imagetest.File(t, "cmyk.jpg"))
	require.Contains(t, fmt.Sprint(m.Warnings), "CMYK is converted to RGB")
	require.Equal(t, 3, m.Channels)
	require.NotEqual(t, color.CMYKModel, m.ToImage().ColorModel())
}

func TestFrameOfMotionJPEG(t *testing.T) {
	file := imagetest.GoJPEG(t, imagetest.Smooth(33, 21, 3), 80) // by image/jpeg, which uses the usual codes
	require.Equal(t, pictureOf(t, file).Pix, pictureOf(t, imagetest.WithoutCodes(file)).Pix)
}
