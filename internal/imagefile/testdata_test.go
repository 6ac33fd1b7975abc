package imagefile

import (
	"image"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

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
			got, want := decode(t, testFile(t, c.file)), decode(t, testFile(t, c.png))
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
	got, want := decode(t, testFile(t, "rgba16a.tif")), decode(t, testFile(t, "rgba16.png"))
	require.Equal(t, want.Alpha, got.Alpha)
	for i, v := range got.Pix {
		a := float64(got.Alpha[i%len(got.Alpha)])
		if a > 0 {
			require.InDelta(t, want.Pix[i], v, 1/a)
		}
	}
}

func TestInksBecomeColours(t *testing.T) {
	want := decode(t, testFile(t, "rgb8.png"))
	m := decode(t, testFile(t, "cmyk.tif"))
	require.Equal(t, 3, m.Channels)
	require.InDeltaSlice(t, want.Pix, m.Pix, 0.006)
	m = decode(t, testFile(t, "cmyk.jpg"))
	require.Equal(t, 3, m.Channels)
	require.Greater(t, psnr(want.Pix, m.Pix), 34.0)
}

// TestLossyFilesAsOthersDecodeThem compares with the decoders of libjpeg and
// libwebp, both with their smooth chroma. Decoders may differ in the rounding of
// the cosine transform, and libwebp rounds chroma twice.
func TestLossyFilesAsOthersDecodeThem(t *testing.T) {
	for _, name := range []string{"prog.jpg", "s422.jpg", "s420.jpg", "lossy.webp", "jpegrgb.tif", "jpegycc.tif", "jpegplanes.tif"} {
		got, want := decode(t, testFile(t, name)), decode(t, testFile(t, name+".png"))
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

func TestChromaOfEveryRatioAndSize(t *testing.T) {
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		for w := 1; w <= 9; w++ {
			for h := 1; h <= 9; h++ {
				s := image.NewYCbCr(image.Rect(0, 0, w, h), ratio)
				for i := range s.Cb {
					// A ramp of steps of 8 stays a ramp between its ends.
					s.Cb[i], s.Cr[i] = byte(100+8*(i%s.CStride)), 77
				}
				u := newChromaRows(s)
				for y := range h {
					cb, cr := u.row(y)
					require.Len(t, cb, w)
					for x := range w {
						require.EqualValues(t, 77, cr[x])
						nearest := int(s.Cb[s.COffset(x, y)])
						require.InDelta(t, nearest, cb[x], 2, "%v %d×%d at %d,%d", ratio, w, h, x, y)
						require.True(t, x == 0 || cb[x] >= cb[x-1])
					}
				}
			}
		}
	}
}

func TestConversionOfComponents(t *testing.T) {
	for _, c := range []struct{ luma, cb, cr, r, g, b byte }{
		{0, 128, 128, 0, 0, 0}, {255, 128, 128, 255, 255, 255}, {76, 85, 255, 254, 0, 0}, {29, 255, 107, 0, 0, 254}, {150, 44, 21, 0, 255, 1},
	} {
		r, g, b := jfifToRGB(c.luma, c.cb, c.cr)
		require.Equal(t, []byte{c.r, c.g, c.b}, []byte{r, g, b})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		luma, cb, cr := byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256))
		r, g, b := jfifToRGB(luma, cb, cr)
		y, u, v := float64(luma), float64(cb)-128, float64(cr)-128
		for c, want := range []float64{y + 1.402*v, y - 0.344136*u - 0.714136*v, y + 1.772*u} {
			require.InDelta(t, min(max(want, 0), 255), []byte{r, g, b}[c], 0.51)
		}
	}
	for luma, want := range map[byte]byte{0: 0, 16: 0, 235: 255, 255: 255, 126: 128} {
		r, g, b := vp8ToRGB(luma, 128, 128)
		require.Equal(t, []byte{want, want, want}, []byte{r, g, b}, luma)
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
		m := decode(t, testFile(t, file))
		require.Equal(t, want.channels, m.Channels, file)
		require.Equal(t, want.depth, m.Depth, file)
		require.Equal(t, want.source, m.SourceDepth, file)
		require.Equal(t, want.alpha, m.Alpha != nil, file)
		require.Equal(t, [2]int{23, 17}, [2]int{m.Width, m.Height}, file)
		if strings.HasPrefix(file, "trns") || file == "gt.png" {
			require.False(t, m.Opaque(), file)
			require.Contains(t, m.Alpha, uint16(opaque), file)
		}
		// And back.
		require.Equal(t, m.Pix, decode(t, encode(t, m, WriteOptions{})).Pix, file)
	}
}
