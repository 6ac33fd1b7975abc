package imagefile

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"testing"

	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// animation is a GIF of 9×7 pixels with two pictures. The first is 4×3 red pixels at (2, 1).
func animation(t testing.TB) []byte {
	red := color.Palette{color.Black, color.RGBA{200, 10, 0, 255}}
	first, second := image.NewPaletted(image.Rect(2, 1, 6, 4), red), image.NewPaletted(image.Rect(0, 0, 9, 7), red)
	for i := range first.Pix {
		first.Pix[i] = 1
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, &gif.GIF{
		Image: []*image.Paletted{first, second}, Delay: []int{0, 0}, LoopCount: -1,
		Config: image.Config{Width: 9, Height: 7},
	}))
	return b.Bytes()
}

func TestFirstPictureOfAnAnimation(t *testing.T) {
	m := decode(t, animation(t))
	require.Equal(t, []string{"the GIF is an animation: only its first picture is read"}, m.Warnings)
	require.Equal(t, [3]int{9, 7, 3}, [3]int{m.Width, m.Height, m.Channels})
	for y := range 7 {
		for x := range 9 {
			i := y*9 + x
			if x < 2 || x >= 6 || y < 1 || y >= 4 {
				require.Zero(t, m.Alpha[i])
				continue
			}
			require.Equal(t, uint16(opaque), m.Alpha[i])
			require.Equal(t, [3]float32{unit8[200], unit8[10], 0}, [3]float32{m.Plane(0)[i], m.Plane(1)[i], m.Plane(2)[i]})
		}
	}
}

// subBlocks is data in blocks of at most n bytes.
func subBlocks(data []byte, n int) []byte {
	var b []byte
	for len(data) > 0 {
		k := min(n, len(data))
		b = append(append(b, byte(k)), data[:k]...)
		data = data[k:]
	}
	return append(b, 0)
}

// describedGIF is pal.gif with a profile, a comment and XMP.
func describedGIF(t testing.TB, profile []byte) []byte {
	icc := join([]byte("\x21\xff\x0bICCRGBG1012"), subBlocks(profile, 255))
	trailer := []byte{1}
	for i := 255; i >= 0; i-- {
		trailer = append(trailer, byte(i))
	}
	xmp := join([]byte("\x21\xff\x0bXMP DataXMP"), []byte(testXMP), trailer, []byte{0})
	comment := join([]byte("\x21\xfe"), subBlocks([]byte("by hand"), 255))
	return insertedGIF(t, icc, comment, xmp)
}

// insertedGIF is pal.gif with blocks before its picture.
func insertedGIF(t testing.TB, blocks ...[]byte) []byte {
	still := testFile(t, "pal.gif")
	tables := 13 + 3<<(still[10]&7+1)
	return join(still[:tables], join(blocks...), still[tables:])
}

func TestMetadataOfGIF(t *testing.T) {
	profile := testProfile("RGB ", 600)
	m := decode(t, describedGIF(t, profile))
	require.Equal(t, profile, m.Metadata.ICC)
	require.Equal(t, testXMP, string(m.Metadata.XMP))
	require.Equal(t, []string{"the comment in GIF is dropped"}, m.Warnings)
	require.Equal(t, decode(t, testFile(t, "pal.gif")).Pix, m.Pix)

	bomb := join([]byte("\x21\xfe"), bytes.Repeat(append([]byte{255}, make([]byte, 255)...), metadata.MaxSize/255+1), []byte{0})
	_, err := Decode(t.Context(), bytes.NewReader(insertedGIF(t, bomb)), ReadOptions{MaxPixels: -1})
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "metadata in GIF")
}
