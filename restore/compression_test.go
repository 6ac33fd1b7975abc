package restore_test

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// jpegOf returns a drawing as a file and as image/jpeg decodes it.
func jpegOf(t require.TestingT, grey bool, quality, w, h int) ([]byte, image.Image) {
	var drawn draw.Image = image.NewNRGBA(image.Rect(0, 0, w, h))
	if grey {
		drawn = image.NewGray(image.Rect(0, 0, w, h))
	}
	draw.Draw(drawn, drawn.Bounds(), leaves(3, h, w), image.Point{}, draw.Src)
	var file bytes.Buffer
	require.NoError(t, jpeg.Encode(&file, drawn, &jpeg.Options{Quality: quality}))
	img, err := jpeg.Decode(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	return file.Bytes(), img
}

// A program that decodes a JPEG itself has the same of its compression as one that reads it with this library.
func TestCompressionOf(t *testing.T) {
	last := math.Inf(1)
	for _, quality := range []int{30, 60, 90} {
		for _, grey := range []bool{true, false} {
			file, img := jpegOf(t, grey, quality, 100, 75)
			m, err := imagefile.Decode(t.Context(), bytes.NewReader(file), imagefile.ReadOptions{CodingNoise: true})
			require.NoError(t, err)
			want := restore.Compression{Noise: m.JPEG.Noise, ChromaX: m.JPEG.ChromaX, ChromaY: m.JPEG.ChromaY}
			require.Positive(t, want.Noise)
			got, err := restore.CompressionOf(img, file)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NoError(t, restore.Validate(restore.Compressed(got)))
			// Another decoder makes colours at once. Its rounding is the only difference.
			other := image.NewNRGBA(image.Rect(-3, 5, 97, 80))
			draw.Draw(other, other.Rect, img, image.Point{}, draw.Src)
			got, err = restore.CompressionOf(other, file)
			require.NoError(t, err)
			require.InEpsilon(t, want.Noise, got.Noise, 0.05, "quality %d, grey %v", quality, grey)
			if !grey {
				require.Less(t, want.Noise, last)
				last = want.Noise
			}
		}
	}
}

func TestCompressionOfOtherFiles(t *testing.T) {
	file, img := jpegOf(t, false, 75, 40, 24)
	var other bytes.Buffer
	require.NoError(t, png.Encode(&other, img))
	for _, none := range [][]byte{nil, {0xff}, other.Bytes(), []byte("RIFF")} {
		how, err := restore.CompressionOf(img, none)
		require.NoError(t, err)
		require.Zero(t, how)
	}
	for name, c := range map[string]struct {
		img  image.Image
		file []byte
		say  string
	}{
		"turned":       {image.NewNRGBA(image.Rect(0, 0, 24, 40)), file, "not turned"},
		"cut":          {img.(*image.YCbCr).SubImage(image.Rect(0, 0, 39, 24)), file, "cut"},
		"broken":       {img, file[:30], "ends early"},
		"none":         {nil, file, "nil"},
		"without luma": {&image.YCbCr{Rect: img.Bounds()}, file, "only 0 bytes"},
		"of a struct":  {struct{ image.Image }{}, file, "panics"},
	} {
		how, err := restore.CompressionOf(c.img, c.file)
		require.ErrorContains(t, err, c.say, name)
		require.Zero(t, how, name)
	}
}

// Whatever the bytes are, there is an error or something that Compressed takes.
func FuzzCompressionOf(f *testing.F) {
	img := image.NewGray(image.Rect(0, 0, 16, 8))
	for _, grey := range []bool{true, false} {
		file, _ := jpegOf(f, grey, 75, 16, 8)
		f.Add(file)
	}
	f.Add([]byte{0xff, 0xd8, 0xff})
	f.Fuzz(func(t *testing.T, file []byte) {
		how, err := restore.CompressionOf(img, file)
		if err == nil {
			err = restore.Validate(restore.Compressed(how))
		}
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
		}
		if how != (restore.Compression{}) {
			require.NoError(t, err)
		}
	})
}
