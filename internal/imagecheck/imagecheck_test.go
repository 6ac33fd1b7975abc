package imagecheck

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// readable tells whether all pixels of the bounds can be read.
func readable(img image.Image) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			img.At(x, y).RGBA()
		}
	}
	return true
}

// drawImage draws an image of any type of the standard library, many of which lack samples.
func drawImage(t *rapid.T) image.Image {
	side := rapid.IntRange(-3, 5)
	r := image.Rectangle{
		Min: image.Pt(side.Draw(t, "left"), side.Draw(t, "top")),
		Max: image.Pt(side.Draw(t, "right"), side.Draw(t, "bottom")),
	}
	// The capacity ends with the samples: slicing into what lies behind them would not panic.
	plane := func(name string) []byte { return slices.Clip(rapid.SliceOfN(rapid.ByteMax(3), 0, 80).Draw(t, name)) }
	strides := rapid.OneOf(rapid.IntRange(-2, 20), rapid.SampledFrom([]int{math.MinInt, math.MaxInt}))
	pix, stride := plane("samples"), strides.Draw(t, "stride")
	switch rapid.IntRange(0, 11).Draw(t, "type") {
	case 0:
		return &image.Gray{Pix: pix, Stride: stride, Rect: r}
	case 1:
		return &image.Gray16{Pix: pix, Stride: stride, Rect: r}
	case 2:
		return &image.Alpha{Pix: pix, Stride: stride, Rect: r}
	case 3:
		return &image.Alpha16{Pix: pix, Stride: stride, Rect: r}
	case 4:
		return &image.NRGBA{Pix: pix, Stride: stride, Rect: r}
	case 5:
		return &image.NRGBA64{Pix: pix, Stride: stride, Rect: r}
	case 6:
		return &image.RGBA{Pix: pix, Stride: stride, Rect: r}
	case 7:
		return &image.RGBA64{Pix: pix, Stride: stride, Rect: r}
	case 8:
		return &image.CMYK{Pix: pix, Stride: stride, Rect: r}
	case 9:
		palette := color.Palette{color.White, color.Black, (*color.Gray)(nil), nil}
		return &image.Paletted{Pix: pix, Stride: stride, Rect: r, Palette: palette[:rapid.IntRange(0, 4).Draw(t, "colours")]}
	}
	ycc := image.YCbCr{
		Y: pix, YStride: stride, Cb: plane("Cb"), Cr: plane("Cr"), CStride: strides.Draw(t, "stride of chroma"), Rect: r,
		SubsampleRatio: image.YCbCrSubsampleRatio(rapid.IntRange(-1, 7).Draw(t, "subsampling")),
	}
	if rapid.Bool().Draw(t, "opaque") {
		return &ycc
	}
	return &image.NYCbCrA{YCbCr: ycc, A: plane("alpha"), AStride: strides.Draw(t, "stride of alpha")}
}

func errorOf(img image.Image) error {
	_, err := check(img)
	return err
}

// What cannot be read is refused, and nothing else.
func TestCheck(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		img := drawImage(r)
		require.Equal(r, readable(img), errorOf(img) == nil, "%#v", img)
	})
}

func TestCheckNilAndHuge(t *testing.T) {
	require.ErrorContains(t, errorOf(nil), "nil")
	for _, img := range []image.Image{
		(*image.Gray)(nil), (*image.Gray16)(nil), (*image.Alpha)(nil), (*image.Alpha16)(nil), (*image.NRGBA)(nil), (*image.NRGBA64)(nil),
		(*image.RGBA)(nil), (*image.RGBA64)(nil), (*image.CMYK)(nil), (*image.Paletted)(nil), (*image.YCbCr)(nil), (*image.NYCbCrA)(nil),
		(*image.Uniform)(nil), (*own)(nil),
	} {
		require.ErrorContains(t, errorOf(img), "nil", "%T", img)
	}
	for _, r := range []image.Rectangle{
		{Max: image.Pt(math.MaxInt, 1)}, {Max: image.Pt(1, math.MaxInt)}, {Max: image.Pt(math.MaxInt, math.MaxInt)},
		{Min: image.Pt(math.MinInt, math.MinInt)}, {Min: image.Pt(math.MinInt, math.MinInt), Max: image.Pt(math.MaxInt, math.MaxInt)},
	} {
		for _, img := range []image.Image{
			&image.Gray{Rect: r}, &image.NRGBA64{Pix: make([]byte, 8), Stride: math.MaxInt, Rect: r}, &image.Paletted{Rect: r},
			&image.YCbCr{Y: make([]byte, 8), Rect: r, SubsampleRatio: image.YCbCrSubsampleRatio420}, &image.NYCbCrA{YCbCr: image.YCbCr{Rect: r}},
		} {
			require.Error(t, errorOf(img), "%T %v", img, r)
		}
	}
}

// own is an image of another package.
type own struct{ image.Image }

func TestReadOfOtherTypes(t *testing.T) {
	empty := own{}
	require.NoError(t, errorOf(empty), "what its methods do is not known")
	err := Read(empty, func() error { empty.Bounds(); return nil })
	require.ErrorContains(t, err, "a method of the imagecheck.own panics")
	require.NoError(t, Read(own{image.NewGray(image.Rect(0, 0, 1, 1))}, func() error { return nil }))
	require.Panics(t, func() {
		_ = Read(image.NewGray(image.Rect(0, 0, 1, 1)), func() error { panic("a mistake of the reader") })
	})
}
