package imagefile

import (
	"math"
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/stretchr/testify/require"
)

// sameSamples says which file of other programs holds the samples of which PNG.
var sameSamples = []struct {
	file, png   string
	sourceDepth int
}{
	{"rgb8i.png", "rgb8.png", 8},
	{"rgba16i.png", "rgba16.png", 16},
	{"rgb8l.tif", "rgb8.png", 8},
	{"rgb8r.tif", "rgb8.png", 8},
	{"rgb8b.tif", "rgb8.png", 8},
	{"rgb8p.tif", "rgb8.png", 8},
	{"rgb8big.tif", "rgb8.png", 8},
	{"rgb8bigtiles.tif", "rgb8.png", 8},
	{"rgb16p.tif", "rgb16.png", 16},
	{"rgb16t.tif", "rgb16.png", 16},
	{"rgb16f.tif", "rgb16.png", 32},
	{"rgb16d.tif", "rgb16.png", 64},
	{"rgb16.pfm", "rgb16.png", 32},
	{"rgba16.tif", "rgba16.png", 16},
	{"g1.tif", "g1.png", 1},
	{"g1w.tif", "g1.png", 1},
	{"g4.tif", "g4.png", 4},
	{"pal.tif", "pal.png", 8},
	{"g16.pfm", "g16.png", 32},
	{"rgb8.bmp", "rgb8.png", 8},
	{"rgba8.bmp", "rgba8.png", 8},
	{"pal16.bmp", "pal16.png", 4},
	{"rle8.bmp", "g8.png", 8},
	{"g1.bmp", "g1.png", 1},
	{"rgba8.webp", "rgba8.png", 8},
	{"pal.gif", "pal.png", 8},
	{"palt.gif", "palt.png", 8},
	{"g8.gif", "g8.png", 8},
}

func TestFilesOfOtherPrograms(t *testing.T) {
	for _, c := range sameSamples {
		t.Run(c.file, func(t *testing.T) {
			got, want := decode(t, imagetest.File(t, c.file)), decode(t, imagetest.File(t, c.png))
			f, err := FormatOf(c.file)
			require.NoError(t, err)
			require.Equal(t, f, got.Format)
			require.Equal(t, c.sourceDepth, got.SourceDepth)
			require.Equal(t, want.Channels, got.Channels)
			require.Equal(t, want.Alpha, got.Alpha)
			if got.Depth == 32 {
				require.InDeltaSlice(t, want.Pix, got.Pix, 1e-6)
				return
			}
			for i, v := range got.Pix {
				// What is fully transparent may have any colour.
				if v != want.Pix[i] && (want.Alpha == nil || want.Alpha[i%len(want.Alpha)] > 0) {
					t.Fatalf("sample %d is %v, not %v", i, v, want.Pix[i])
				}
			}
		})
	}
}

func TestAssociatedAlphaIsDividedOut(t *testing.T) {
	got, want := decode(t, imagetest.File(t, "rgba16a.tif")), decode(t, imagetest.File(t, "rgba16.png"))
	require.Equal(t, want.Alpha, got.Alpha)
	for i, v := range got.Pix {
		a := float64(got.Alpha[i%len(got.Alpha)])
		if a > 0 {
			require.InDelta(t, want.Pix[i], v, 1/a)
		}
	}
}

func TestInksBecomeColours(t *testing.T) {
	want := decode(t, imagetest.File(t, "rgb8.png"))
	m := decode(t, imagetest.File(t, "cmyk.tif"))
	require.Equal(t, 3, m.Channels)
	require.InDeltaSlice(t, want.Pix, m.Pix, 0.006)
	m = decode(t, imagetest.File(t, "cmyk.jpg"))
	require.Equal(t, 3, m.Channels)
	require.Greater(t, imagetest.PSNR(want.Pix, m.Pix), 34.0)
}

// TestLossyFilesAsOthersDecodeThem compares with the decoders of libjpeg and
// libwebp, both with their smooth chroma. Decoders may differ in the rounding of
// the cosine transform, and libwebp rounds chroma twice.
func TestLossyFilesAsOthersDecodeThem(t *testing.T) {
	for _, name := range []string{"prog.jpg", "s422.jpg", "s420.jpg", "lossy.webp", "jpegrgb.tif", "jpegycc.tif", "jpegplanes.tif"} {
		got, want := decode(t, imagetest.File(t, name)), decode(t, imagetest.File(t, name+".png"))
		require.Equal(t, [2]int{want.Width, want.Height}, [2]int{got.Width, got.Height})
		sum := 0.0
		for i, v := range got.Pix {
			d := math.Abs(float64(v-want.Pix[i])) * 255
			require.LessOrEqual(t, d, 3.5, "%s, sample %d", name, i)
			sum += d
		}
		require.Less(t, sum/float64(len(got.Pix)), 0.4, name)
	}
}

func TestShapesOfPNG(t *testing.T) {
	for file, want := range map[string]struct {
		channels, depth, source int
		alpha                   bool
	}{
		"g1.png":     {1, 8, 1, false},
		"g2.png":     {1, 8, 2, false},
		"g4.png":     {1, 8, 4, false},
		"g8.png":     {1, 8, 8, false},
		"g16.png":    {1, 16, 16, false},
		"gt.png":     {1, 8, 8, true},
		"ga8.png":    {1, 8, 8, true},
		"ga16.png":   {1, 16, 16, true},
		"rgb8.png":   {3, 8, 8, false},
		"rgb16.png":  {3, 16, 16, false},
		"rgba8.png":  {3, 8, 8, true},
		"rgba16.png": {3, 16, 16, true},
		"trns8.png":  {3, 8, 8, true},
		"trns16.png": {3, 16, 16, true},
		"pal16.png":  {3, 8, 8, false},
		"palt.png":   {3, 8, 8, true},
	} {
		m := decode(t, imagetest.File(t, file))
		require.Equal(t, want.channels, m.Channels, file)
		require.Equal(t, want.depth, m.Depth, file)
		require.Equal(t, want.source, m.SourceDepth, file)
		require.Equal(t, want.alpha, m.Alpha != nil, file)
		require.Equal(t, [2]int{23, 17}, [2]int{m.Width, m.Height}, file)
		if strings.HasPrefix(file, "trns") || file == "gt.png" {
			require.False(t, m.Opaque(), file)
			require.Contains(t, m.Alpha, uint16(samples.Opaque), file)
		}
		// And back.
		require.Equal(t, m.Pix, decode(t, encode(t, m, WriteOptions{})).Pix, file)
	}
}

func TestBigTIFFOfManyKinds(t *testing.T) {
	require.Equal(t, TIFF, decode(t, imagetest.File(t, "rgb8bigtiles.tif")).Format)
}
