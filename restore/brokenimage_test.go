package restore_test

import (
	"context"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/restore"
)

// Every function that takes an image returns an error about one that cannot be read.
func TestImagesThatCannotBeRead(t *testing.T) {
	r := image.Rect(0, 0, 5, 4)
	good := image.NewGray(r)
	kernel, err := deblur.Gaussian(1)
	require.NoError(t, err)
	functions := map[string]func(image.Image) error{
		"Denoise": func(img image.Image) error { _, _, err := restore.Denoise(t.Context(), img); return err },
		"Deblur":  func(img image.Image) error { _, _, err := restore.Deblur(t.Context(), img, kernel); return err },
		"Inpaint": func(img image.Image) error { _, _, err := restore.Inpaint(t.Context(), img, good); return err },
		"mask":    func(img image.Image) error { _, _, err := restore.Inpaint(t.Context(), good, img); return err },
		"Upscale": func(img image.Image) error { _, _, err := restore.Upscale(t.Context(), img, 2); return err },
		"Check": func(img image.Image) error {
			_, err := restore.Check(t.Context(), img, kernel, restore.Method("tv"))
			return err
		},
		"EstimateNoise":  func(img image.Image) error { _, err := restore.EstimateNoise(t.Context(), img); return err },
		"EstimateKernel": func(img image.Image) error { _, _, err := restore.EstimateKernel(t.Context(), img); return err },
		"EstimateBlur":   func(img image.Image) error { _, err := restore.EstimateBlur(t.Context(), img); return err },
		"DeblurBlind":    func(img image.Image) error { _, _, err := restore.DeblurBlind(t.Context(), img, nil); return err },
		"CheckKernel":    func(img image.Image) error { _, err := restore.CheckKernel(t.Context(), img, kernel); return err },
		"OptionsForPart": func(img image.Image) error {
			_, err := restore.OptionsForPart(t.Context(), img, deblur.OneKernel(kernel))
			return err
		},
		"FromImage":       func(img image.Image) error { _, err := restore.FromImage(img); return err },
		"KernelFromImage": func(img image.Image) error { _, err := deblur.KernelFromImage(img); return err },
	}
	var none *image.NRGBA
	images := map[string]image.Image{
		"nil NRGBA":         none,
		"nil Planar":        (*restore.Planar)(nil),
		"around nil":        struct{ image.Image }{},
		"around nil NRGBA":  struct{ *image.NRGBA }{},
		"too few bytes":     &image.NRGBA{Pix: make([]byte, 79), Stride: 20, Rect: r},
		"none":              &image.RGBA64{Rect: r},
		"stride below 0":    &image.Gray{Pix: make([]byte, 100), Stride: -5, Rect: r},
		"endless stride":    &image.Gray16{Pix: make([]byte, 100), Stride: math.MaxInt, Rect: r},
		"bounds below 0":    &image.Gray{Pix: make([]byte, 100), Stride: 5, Rect: image.Rectangle{Max: image.Pt(-5, -4)}},
		"empty":             &image.CMYK{},
		"endless bounds":    &image.NRGBA{Pix: make([]byte, 100), Stride: 20, Rect: image.Rectangle{Min: image.Pt(math.MinInt, math.MinInt)}},
		"no chroma":         &image.YCbCr{Y: make([]byte, 20), YStride: 5, Rect: r},
		"no alpha":          &image.NYCbCrA{YCbCr: *image.NewYCbCr(r, image.YCbCrSubsampleRatio420)},
		"no palette":        &image.Paletted{Pix: make([]byte, 20), Stride: 5, Rect: r},
		"no such colour":    &image.Paletted{Pix: []byte{0, 1, 2, 3}, Stride: 2, Rect: image.Rect(0, 0, 2, 2), Palette: color.Palette{color.White}},
		"no colour":         &image.Paletted{Pix: make([]byte, 20), Stride: 5, Rect: r, Palette: color.Palette{nil}},
		"Planar of nothing": restore.NewPlanar(3, -1, 4),
		"Planar of 2":       restore.NewPlanar(2, 4, 5),
		"Planar too large":  restore.NewPlanar(3, math.MaxInt, math.MaxInt),
		"too few samples":   &restore.Planar{Width: 5, Height: 4, Channels: 3, Pix: make([]float32, 59)},
		"too few opacities": &restore.Planar{Width: 5, Height: 4, Channels: 1, Pix: make([]float32, 20), Alpha: make([]uint16, 19)},
	}
	for name, f := range functions {
		for kind, img := range images {
			require.NotPanics(t, func() { err = f(img) }, "%s of %s", name, kind)
			require.Error(t, err, "%s of %s", name, kind)
			if name != "mask" && name != "KernelFromImage" { // these are not of the image
				require.ErrorIs(t, err, restore.ErrImage, "%s of %s", name, kind)
			}
		}
	}
	_, err = restore.FromImage(image.Black) // whose bounds are endless
	require.ErrorIs(t, err, restore.ErrImage)
	_, _, err = restore.Solve(t.Context(), nil, nil)
	require.Error(t, err)
}

// A nil context or Restorer, and a Restorer or a Blur of zero value, are errors and no panics.
func TestNilContextAndRestorer(t *testing.T) {
	good := image.NewGray(image.Rect(0, 0, 5, 4))
	var nothing context.Context
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	_, _, err = r.Denoise(nothing, good)
	require.ErrorContains(t, err, "the context is nil")
	_, err = restore.EstimateNoise(nothing, good)
	require.ErrorContains(t, err, "the context is nil")
	_, err = restore.EstimateBlur(nothing, good)
	require.ErrorContains(t, err, "the context is nil")
	for _, none := range []*restore.Restorer{nil, {}} {
		_, _, err = none.Denoise(t.Context(), good)
		require.ErrorIs(t, err, restore.ErrClosed)
		_, _, err = none.DenoiseRawFile(t.Context(), &raw.File{})
		require.ErrorIs(t, err, restore.ErrClosed)
		require.NoError(t, none.Close())
	}
	_, _, err = r.DenoiseRawFile(t.Context(), &raw.File{})
	require.ErrorContains(t, err, "nil")
	require.Equal(t, "unknown blur", (*restore.Blur)(nil).String())
	require.Equal(t, "unknown blur", (&restore.Blur{}).String())
}

// Whatever the fields of an image are, it is read or refused, and neither ends in a panic.
func TestAnyFieldsOfAnImage(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		edge := rapid.IntRange(-2, 4)
		rect := image.Rect(edge.Draw(r, "x0"), edge.Draw(r, "y0"), edge.Draw(r, "x1"), edge.Draw(r, "y1"))
		if rapid.Bool().Draw(r, "turned") {
			rect.Min, rect.Max = rect.Max, rect.Min
		}
		pix := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(r, "samples")
		stride := rapid.IntRange(-3, 40).Draw(r, "stride")
		alpha := make([]uint16, rapid.IntRange(0, 20).Draw(r, "opacities"))
		for _, img := range []image.Image{
			&image.Gray{Pix: pix, Stride: stride, Rect: rect}, &image.Gray16{Pix: pix, Stride: stride, Rect: rect},
			&image.Alpha{Pix: pix, Stride: stride, Rect: rect}, &image.Alpha16{Pix: pix, Stride: stride, Rect: rect},
			&image.NRGBA{Pix: pix, Stride: stride, Rect: rect}, &image.NRGBA64{Pix: pix, Stride: stride, Rect: rect},
			&image.RGBA{Pix: pix, Stride: stride, Rect: rect}, &image.RGBA64{Pix: pix, Stride: stride, Rect: rect},
			&image.CMYK{Pix: pix, Stride: stride, Rect: rect}, &image.Paletted{Pix: pix, Stride: stride, Rect: rect, Palette: color.Palette{color.White, color.Black}},
			&image.YCbCr{Y: pix, Cb: pix, Cr: pix, YStride: stride, CStride: stride, Rect: rect},
			&restore.Planar{Width: rect.Max.X, Height: rect.Max.Y, Channels: stride, Pix: make([]float32, len(pix)), Alpha: alpha},
		} {
			p, err := restore.FromImage(img)
			if err == nil {
				require.NoError(r, p.Check())
				require.False(r, img.Bounds().Empty())
			}
			_, err = restore.EnlargeAlpha(alpha, rect.Dy(), rect.Dx(), stride, 1)
			require.Equal(r, err == nil, stride >= 2 && stride <= 4 && !rect.Empty() && rect.Dx()*rect.Dy() == len(alpha))
		}
	})
}
