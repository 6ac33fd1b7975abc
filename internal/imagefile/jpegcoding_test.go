package imagefile

import (
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

func TestCodingOfJPEG(t *testing.T) {
	for file, want := range map[string][2]int{"s420.jpg": {2, 2}, "s422.jpg": {2, 1}, "gray.jpg": {1, 1}, "prog.jpg": {1, 1}} {
		c := decode(t, imagetest.File(t, file)).JPEG
		require.NotNil(t, c, file)
		require.Equal(t, want, [2]int{c.ChromaX, c.ChromaY}, file)
		require.Equal(t, file == "gray.jpg", c.Chroma == [64]uint16{}, file)
		require.NotZero(t, c.Luma[0])
	}
	for _, file := range []string{"cmyk.jpg", "rgb8.png", "lossy.webp"} {
		require.Nil(t, decode(t, imagetest.File(t, file)).JPEG, file)
	}
	c := decode(t, encode(t, imagetest.Smooth(9, 7, 3), WriteOptions{Format: JPEG, Quality: 80})).JPEG
	require.Equal(t, JPEGCoding{Luma: c.Luma, Chroma: c.Chroma, ChromaX: 1, ChromaY: 1, Quality: 80, Standard: true, Noise: c.Noise}, *c)
}

// Turned by its orientation, an image has turned tables and factors.
func TestCodingFollowsTheOrientation(t *testing.T) {
	m := imagetest.Smooth(16, 8, 3)
	file := imagetest.WithTables(t, imagetest.GoJPEG(t, m, 85), func(_, i int, _ byte) byte { return byte(i + 1) })
	plain := decode(t, file).JPEG
	exif := append([]byte(metadata.EXIFMark), imagetest.EXIF(binary.BigEndian, 6, 16, 8)...)
	turned := decode(t, imagetest.WithSegment(file, segment.APP1, exif))
	require.Equal(t, [2]int{8, 16}, [2]int{turned.Width, turned.Height})
	for v := range 8 {
		for u := range 8 {
			require.Equal(t, plain.Luma[8*v+u], turned.JPEG.Luma[8*u+v])
			require.Equal(t, plain.Chroma[8*v+u], turned.JPEG.Chroma[8*u+v])
		}
	}
}

// A JPEG that is written again has the tables that it had, unless a quality is given.
func TestJPEGKeepsItsTables(t *testing.T) {
	for _, channels := range []int{1, 3} {
		file := imagetest.WithTables(t, imagetest.GoJPEG(t, imagetest.Smooth(33, 20, 3), 85), func(_, i int, step byte) byte { return step + byte(i%2) })
		if channels == 1 {
			file = imagetest.GoJPEG(t, imagetest.Smooth(33, 20, 1), 60)
		}
		m := decode(t, file)
		again := decode(t, encode(t, m, WriteOptions{}))
		require.Equal(t, m.JPEG.Luma, again.JPEG.Luma)
		require.Equal(t, m.JPEG.Chroma, again.JPEG.Chroma)
		require.Greater(t, imagetest.PSNR(m.Pix, again.Pix), 35.0)

		asked := decode(t, encode(t, m, WriteOptions{Quality: 30}))
		require.Equal(t, 30, asked.JPEG.Quality)
		require.True(t, asked.JPEG.Standard)

		png := decode(t, encode(t, m, WriteOptions{Format: PNG}))
		require.Equal(t, DefaultQuality, decode(t, encode(t, png, WriteOptions{Format: JPEG})).JPEG.Quality)
	}
	m := imagetest.Smooth(8, 8, 3)
	m.JPEG = decode(t, imagetest.GoJPEG(t, imagetest.Smooth(8, 8, 1), 40)).JPEG // a grey image that has been coloured
	require.Equal(t, 40, decode(t, encode(t, m, WriteOptions{Format: JPEG})).JPEG.Quality)
	_, err := WriteOptions{Format: JPEG, Quality: -1}.plan(m)
	require.ErrorIs(t, err, ErrUnsupported)
}
