package picture_test

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/stretchr/testify/require"
)

// slow hides the type of an image, so that only its colours are left.
type slow struct{ image.Image }

// randomImages returns an image of every type, in bounds that do not begin at 0,
// with rows that are longer than the image.
func randomImages() []image.Image {
	rng := rand.New(rand.NewPCG(5, 6))
	outer, inner := image.Rect(-3, -2, 30, 20), image.Rect(2, 3, 21, 14)
	fill := func(p []byte) {
		for i := range p {
			p[i] = byte(rng.IntN(256))
		}
	}
	// premultiply makes colours no brighter than their alpha.
	premultiply := func(dst draw.Image, alpha func() uint16) {
		b := dst.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				dst.Set(x, y, color.NRGBA64{uint16(rng.IntN(65536)), uint16(rng.IntN(65536)), uint16(rng.IntN(65536)), alpha()})
			}
		}
	}
	some := func() uint16 { return uint16([]int{0, rng.IntN(65536), 65535}[rng.IntN(3)]) }
	full := func() uint16 { return samples.Opaque }

	gray, gray16 := image.NewGray(outer), image.NewGray16(outer)
	nrgba, nrgba64 := image.NewNRGBA(outer), image.NewNRGBA64(outer)
	rgba, rgba64, opaque8, opaque16 := image.NewRGBA(outer), image.NewRGBA64(outer), image.NewRGBA(outer), image.NewRGBA64(outer)
	cmyk := image.NewCMYK(outer)
	for _, p := range [][]byte{gray.Pix, gray16.Pix, nrgba.Pix, nrgba64.Pix, cmyk.Pix} {
		fill(p)
	}
	premultiply(rgba, some)
	premultiply(rgba64, some)
	premultiply(opaque8, full)
	premultiply(opaque16, full)
	palette := color.Palette{color.NRGBA{1, 2, 3, 4}, color.RGBA{9, 8, 7, 255}, color.Gray{200}, color.NRGBA{200, 100, 50, 128}}
	paletted := image.NewPaletted(outer, palette)
	for i := range paletted.Pix {
		paletted.Pix[i] = byte(rng.IntN(len(palette)))
	}
	images := []image.Image{
		gray.SubImage(inner), gray16.SubImage(inner), nrgba.SubImage(inner), nrgba64.SubImage(inner),
		rgba.SubImage(inner), rgba64.SubImage(inner), opaque8.SubImage(inner), opaque16.SubImage(inner),
		cmyk.SubImage(inner), paletted.SubImage(inner), slow{nrgba64.SubImage(inner)}, image.NewAlpha(inner),
	}
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		m := image.NewNYCbCrA(outer, ratio)
		for _, p := range [][]byte{m.Y, m.Cb, m.Cr, m.A} {
			fill(p)
		}
		images = append(images, m.SubImage(inner), m.YCbCr.SubImage(inner))
	}
	return images
}

func TestFromImageEqualsItsColours(t *testing.T) {
	for _, src := range randomImages() {
		m, err := picture.FromImage(src)
		require.NoError(t, err, "%T", src)
		require.NoError(t, m.Validate())
		limit := 1.0
		switch src.(type) {
		case *image.YCbCr, *image.NYCbCrA:
			limit = 320 // At takes 256 for 257 and cuts off; TestConversionOfComponents is exact.
		case *image.CMYK:
			limit = 3 // At cuts off twice.
		}
		b := src.Bounds()
		require.Equal(t, [2]int{b.Dx(), b.Dy()}, [2]int{m.Width, m.Height})
		for y := range m.Height {
			for x := range m.Width {
				i := y*m.Width + x
				// A premultiplied colour is known to one part in its alpha.
				r, g, bl, a := src.At(b.Min.X+x, b.Min.Y+y).RGBA()
				if m.Alpha == nil {
					require.EqualValues(t, samples.Opaque, a, "%T", src)
				} else {
					require.EqualValues(t, a, m.Alpha[i], "%T", src)
				}
				for c, v := range []uint32{r, g, bl} {
					got := float64(m.Plane(min(c, m.Channels-1))[i])
					if math.Abs(got*float64(a)-float64(v)) > limit {
						t.Fatalf("%T at %d,%d: channel %d is %v, not %v/%v", src, x, y, c, got, v, a)
					}
				}
			}
		}
	}
}

func TestToImageAndBack(t *testing.T) {
	for _, depth := range []int{8, 16} {
		for _, channels := range []int{1, 3} {
			for _, alpha := range []bool{false, true} {
				m := imagetest.Random(7, 5, channels, depth, alpha)
				out := m.ToImage()
				switch {
				case channels == 1 && !alpha && depth == 8:
					require.IsType(t, &image.Gray{}, out)
				case channels == 1 && !alpha:
					require.IsType(t, &image.Gray16{}, out)
				case depth == 8:
					require.IsType(t, &image.NRGBA{}, out)
				default:
					require.IsType(t, &image.NRGBA64{}, out)
				}
				back, err := picture.FromImage(out)
				require.NoError(t, err)
				require.Equal(t, depth, back.Depth)
				require.Equal(t, m.Alpha, back.Alpha)
				for c := range back.Channels {
					require.Equal(t, m.Plane(min(c, channels-1)), back.Plane(c))
				}
			}
		}
	}
	nan := picture.New(1, 1, 1, 32, false)
	nan.Pix[0] = float32(math.NaN())
	require.Equal(t, color.Gray16{}, nan.ToImage().At(0, 0))
}

func TestFromImageRefuses(t *testing.T) {
	_, err := picture.FromImage(nil)
	require.ErrorIs(t, err, picture.ErrInvalid)
	_, err = picture.FromImage(image.NewGray(image.Rectangle{}))
	require.ErrorIs(t, err, picture.ErrInvalid)
	_, err = picture.FromImage(image.NewUniform(color.White)) // has 4·10¹⁸ pixels
	require.ErrorIs(t, err, source.ErrTooManyPixels)
}

func TestLike(t *testing.T) {
	m := imagetest.Random(4, 3, 3, 16, true)
	l := m.Like()
	require.Len(t, l.Pix, len(m.Pix))
	require.Zero(t, l.Pix[0])
	l.Pix[0] = 7
	require.NotEqual(t, float32(7), m.Pix[0])
	require.Equal(t, m.Alpha, l.Alpha)
}
