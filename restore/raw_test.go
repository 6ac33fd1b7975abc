package restore

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/weights"
)

// rawScene is a raw image without noise, and with it.
func rawScene(t *testing.T, h, w int, iso float64) (clean, noisy *raw.Image) {
	t.Helper()
	c := cameranoise.Typical()
	c.ISO = iso
	f, err := os.Open("../testdata/scene.png")
	require.NoError(t, err)
	defer f.Close()
	drawn, err := png.Decode(f)
	require.NoError(t, err)
	part := drawn.(interface {
		SubImage(r image.Rectangle) image.Image
	}).SubImage(image.Rect(160, 120, 160+w, 120+h))
	p, err := FromImage(part)
	require.NoError(t, err)
	mosaic := func(noise bool) *raw.Image {
		light, err := c.Mosaic(p.Pix, h, w, 7, noise)
		require.NoError(t, err)
		return &raw.Image{Width: w, Height: h, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Pix: light, Low: -1. / 31}
	}
	return mosaic(false), mosaic(true)
}

func meanSquare(a, b []float32) float64 {
	sum := 0.
	for i, v := range a {
		d := float64(v) - float64(b[i])
		sum += d * d
	}
	return sum / float64(len(a))
}

func TestDenoiseRaw(t *testing.T) {
	clean, noisy := rawScene(t, 128, 160, 6400)
	last := 0.
	out, report, err := DenoiseRaw(t.Context(), noisy, Progress(func(p backend.Progress) error {
		require.GreaterOrEqual(t, p.Fraction, last)
		last = p.Fraction
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, 1., last)
	require.Less(t, meanSquare(out.Pix, clean.Pix), .33*meanSquare(noisy.Pix, clean.Pix), "5 dB, of a scene of bricks")
	require.Equal(t, weights.Raw, report.Method)
	require.True(t, report.Certified)
	require.Less(t, report.Averagedness, 1.)
	require.Len(t, report.Raw.Noise, 3)

	// Local means are those of what was measured, except for its noise.
	const side = 32
	for top := 0; top+side <= noisy.Height; top += side {
		for left := 0; left+side <= noisy.Width; left += side {
			var before, after, variance float64
			for y := top; y < top+side; y++ {
				for x := left; x < left+side; x++ {
					i := y*noisy.Width + x
					before, after = before+float64(noisy.Pix[i]), after+float64(out.Pix[i])
					variance += report.Raw.Noise[noisy.Colour(x, y)].At(float64(out.Pix[i]))
				}
			}
			require.InDelta(t, before/side/side, after/side/side, .003+6*math.Sqrt(variance)/side/side, "row %d, column %d", top, left)
		}
	}

	same, other, err := DenoiseRaw(t.Context(), noisy, Threads(1), Tile(64))
	require.NoError(t, err)
	require.Equal(t, out.Pix, same.Pix, "whatever the threads and tiles are")
	require.Equal(t, report.Raw, other.Raw)

	if testing.Short() {
		return // goroutines and instruction sets change nothing of the rest; go test ./... has it
	}
	weak, _, err := DenoiseRaw(t.Context(), noisy, Strength(.3))
	require.NoError(t, err)
	require.Less(t, meanSquare(weak.Pix, noisy.Pix), meanSquare(out.Pix, noisy.Pix))
	_, one, err := DenoiseRaw(t.Context(), noisy, Method("tv"))
	require.NoError(t, err)
	require.Equal(t, "tv", one.Method)

	// LinearRaw has no mosaic.
	linear := &raw.Image{Width: 64, Height: 64, Samples: 3, Noise: []raw.Noise{{Gain: 1e-3, Offset: 1e-5}}, Pix: make([]float32, 3*64*64), Low: -1}
	for i := range linear.Pix {
		linear.Pix[i] = noisy.Pix[i]
	}
	_, report, err = DenoiseRaw(t.Context(), linear)
	require.NoError(t, err)
	require.Equal(t, DefaultMethod(), report.Method)
}

// TestDenoiseRawFile: a file gives what its image gives.
func TestDenoiseRawFile(t *testing.T) {
	_, noisy := rawScene(t, 64, 96, 6400)
	m := dng.Mosaic{Width: 96, Height: 64, Pix: make([]uint16, len(noisy.Pix)), Black: 128, White: 4095,
		Pattern: [2][2]dng.Colour{{0, 1}, {1, 2}}, Neutral: [3]float64{1, 1, 1}, Matrix: [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}}
	for i, v := range noisy.Pix {
		m.Pix[i] = uint16(math.Round(float64(min(max(128+v*3967, 0), 4095))))
	}
	var b bytes.Buffer
	require.NoError(t, dng.Create(&b, m))
	f, err := raw.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), raw.Options{})
	require.NoError(t, err)
	image := f.Image()
	before := slices.Clone(image.Pix)
	want, report, err := DenoiseRaw(t.Context(), image)
	require.NoError(t, err)
	require.Equal(t, before, image.Pix, "the image stays")
	require.False(t, report.Unchanged)
	out, same, err := DenoiseRawFile(t.Context(), f)
	require.NoError(t, err)
	require.Equal(t, want, out)
	require.Equal(t, report.Raw, same.Raw)
}

func TestDenoiseRawRefuses(t *testing.T) {
	_, _, err := DenoiseRaw(t.Context(), nil)
	require.ErrorContains(t, err, "nil")
	_, _, err = DenoiseRawFile(t.Context(), nil)
	require.ErrorContains(t, err, "nil")
	_, noisy := rawScene(t, 64, 64, 800)
	for _, o := range []Option{Sigma(.1), Shadows(false), StepSize(1)} {
		_, _, err = DenoiseRaw(t.Context(), noisy, o)
		var wrong *OptionError
		require.ErrorAs(t, err, &wrong)
	}
	noisy.Pix[5] = float32(math.NaN())
	_, _, err = DenoiseRaw(t.Context(), noisy)
	require.ErrorContains(t, err, "NaN")
}
