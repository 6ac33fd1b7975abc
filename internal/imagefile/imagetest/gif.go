package imagetest

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// AnimatedGIF is a GIF of 9×7 pixels with two pictures. The first is 4×3 red pixels at (2, 1).
func AnimatedGIF(t testing.TB) []byte {
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

// GIF is pal.gif with blocks before its picture.
func GIF(t testing.TB, blocks ...[]byte) []byte {
	still := File(t, "pal.gif")
	tables := 13 + 3<<(still[10]&7+1)
	return slices.Concat(still[:tables], slices.Concat(blocks...), still[tables:])
}

// DescribedGIF is pal.gif with a profile, a comment and XMP.
func DescribedGIF(t testing.TB, profile []byte) []byte {
	icc := slices.Concat([]byte("\x21\xff\x0bICCRGBG1012"), subBlocks(profile, 255))
	trailer := []byte{1}
	for i := 255; i >= 0; i-- {
		trailer = append(trailer, byte(i))
	}
	xmp := slices.Concat([]byte("\x21\xff\x0bXMP DataXMP"), []byte(XMP), trailer, []byte{0})
	comment := slices.Concat([]byte("\x21\xfe"), subBlocks([]byte("by hand"), 255))
	return GIF(t, icc, comment, xmp)
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
