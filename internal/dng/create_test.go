package dng

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/tiffdir"
)

// What only a development needs may be broken: cameras write 0/0 for what they do not know.
func TestColourIsNoReasonToRefuse(t *testing.T) {
	f := testFile{width: 4, height: 4, bits: 12, pix: ramp(16, 12), first: []testField{
		{tag: tagBaselineExposure, kind: 2, values: text("bright")},
		{tag: tagAsShotNeutral, kind: tiffdir.Double, values: []float64{math.NaN(), 1, 1}},
		{tag: tagColorMatrix1, kind: tiffdir.Double, values: slices.Repeat([]float64{math.Inf(1)}, 9)},
		{tag: tagNoiseProfile, kind: tiffdir.Double, values: []float64{math.NaN(), 1}},
	}}
	m := read(t, f.build(t))
	require.Equal(t, f.pix, m.Pix)
	require.Zero(t, m.Exposure)
	require.Empty(t, m.Noise)
}

// What is written is read.
func TestCreate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := Mosaic{
			Width: rapid.IntRange(2, 20).Draw(rt, "width"), Height: rapid.IntRange(1, 20).Draw(rt, "height"),
			Black: 100, White: 4095, Neutral: [3]float64{.5, 1, .625}, Matrix: [9]float64{.9, -.2, -.1, -.4, 1.2, .2, -.05, .15, .6},
			Exposure: .5, Noise: [2]float64{1e-3, 2e-6}, Model: rapid.SampledFrom([]string{"", "A", "odd", "a camera"}).Draw(rt, "model"),
			Pattern: rapid.SampledFrom([][2][2]Colour{{{0, 1}, {1, 2}}, {{1, 0}, {2, 1}}, {{1, 2}, {0, 1}}, {{2, 1}, {1, 0}}}).Draw(rt, "pattern"),
		}
		m.Pix = drawSamples(rt, m.Width*m.Height, 12)
		var b bytes.Buffer
		require.NoError(rt, Create(&b, m))
		got := read(rt, b.Bytes())
		require.Equal(rt, m.Pix, got.Pix)
		require.Equal(rt, m.Pattern[0][0], got.Colour(0, 0))
		require.Equal(rt, m.Pattern[1][0], got.Colour(0, 1))
		require.Equal(rt, m.Neutral, got.Neutral)
		require.Equal(rt, m.Matrix, got.Matrix)
		require.Equal(rt, m.Exposure, got.Exposure)
		require.Equal(rt, [][2]float64{m.Noise}, got.Noise)
		require.Equal(rt, [2]float64{100, 4095}, [2]float64{got.Black(1, 0, 0), got.Levels.White[0]})
	})
	require.ErrorIs(t, Create(&bytes.Buffer{}, Mosaic{Width: 3, Height: 3, Pix: make([]uint16, 8), White: 1}), imagefile.ErrInvalidImage)
}
