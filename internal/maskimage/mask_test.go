package maskimage

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
)

// paintedMask is a mask with a ground, on which strokes of the given colours are painted: the rows 2, 4, 6 ….
func paintedMask(ground color.Color, strokes ...color.Color) image.Image {
	m := image.NewNRGBA(image.Rect(3, 1, 23, 31))
	for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
		for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
			c := ground
			if k := (y - 1) / 2; (y-1)%2 == 0 && k >= 1 && k <= len(strokes) {
				c = strokes[k-1]
			}
			m.Set(x, y, c)
		}
	}
	return m
}

// Strokes in any colour on black or on transparent are a mask, and those in white or black are as before.
func TestFormsOfMasks(t *testing.T) {
	var (
		clear  = color.NRGBA{}
		red    = color.NRGBA{255, 0, 0, 255}
		blue   = color.NRGBA{0, 0, 255, 255}
		maroon = color.NRGBA{64, 0, 0, 255}
		tinted = color.NRGBA{20, 10, 40, 255}
		dim    = color.NRGBA{90, 90, 90, 255}
		faint  = color.NRGBA{255, 255, 255, 100}
		dark   = color.NRGBA{20, 20, 20, 255} // as what JPEG adds beside strokes
		hint   = color.NRGBA{255, 255, 255, 10}
	)
	for _, test := range []struct {
		ground  color.Color
		strokes []color.Color
		filled  []int // which of the strokes
	}{
		{color.Black, []color.Color{color.White}, []int{0}},
		{color.Black, []color.Color{red}, []int{0}},
		{color.Black, []color.Color{blue, maroon, color.White, dim, dark}, []int{0, 1, 2, 3}},
		{dim, []color.Color{color.White, color.NRGBA{99, 99, 99, 255}, color.NRGBA{120, 120, 120, 255}}, []int{0, 2}},
		{tinted, []color.Color{red, color.White}, []int{0, 1}},
		{clear, []color.Color{color.White}, []int{0}},
		{clear, []color.Color{red, color.Black}, []int{0, 1}},
		{clear, []color.Color{color.Black}, []int{0}},
		{clear, []color.Color{dim}, []int{0}},
		{clear, []color.Color{color.White, color.Black, faint, hint}, []int{0, 2}},
		{color.NRGBA{255, 255, 255, 0}, []color.Color{color.Black, hint}, []int{0}},
		{color.NRGBA{255, 255, 255, 0}, []color.Color{color.Black, faint, hint}, []int{1}}, // white beside black
		{color.White, []color.Color{red, blue}, []int{0, 1}},
		{color.Black, []color.Color{color.NRGBA{1, 1, 1, 255}}, []int{0}}, // a label, with no other shade
	} {
		mask := paintedMask(test.ground, test.strokes...)
		known, doubt, err := Known(mask, imageplanes.New(3, 30, 20))
		require.NoError(t, err)
		require.Empty(t, doubt)
		want := make([]bool, 30*20)
		for i := range want {
			want[i] = true
		}
		for _, k := range test.filled {
			for x := range 20 {
				want[(2*k+2)*20+x] = false
			}
		}
		require.Equal(t, want, known, "%+v", test)
	}
}

// A mask that covers nearly everything is doubted, and what is invisible is unknown.
func TestMasksThatCoverMuch(t *testing.T) {
	p := imageplanes.New(1, 30, 20)
	for _, strokes := range []int{1, 4} {
		var black []color.Color
		for range strokes {
			black = append(black, color.Black)
		}
		_, doubt, err := Known(paintedMask(color.White, black...), p)
		require.NoError(t, err)
		require.Contains(t, doubt.Text, "is it inverted?")
		require.Equal(t, outcome.InvertedMask, doubt.Kind)
	}
	p.Alpha = make([]uint16, 30*20)
	mask := paintedMask(color.Black, color.White)
	_, _, err := Known(mask, p)
	require.ErrorIs(t, err, ErrMask)
	require.ErrorContains(t, err, "no visible pixel is known")
	p.Alpha[7] = 1
	known, _, err := Known(mask, p)
	require.NoError(t, err)
	for i, is := range known {
		require.Equal(t, i == 7, is)
	}
	for _, c := range []color.Color{color.Black, color.NRGBA{}} {
		_, _, err = Known(image.NewUniform(c), p)
		require.ErrorIs(t, err, ErrMask)
		_, _, err = Known(paintedMask(c), p)
		require.ErrorContains(t, err, "throughout")
	}
}

// A mask that has many shades may be a photograph, and is taken for a mask.
func TestMaskOfManyShades(t *testing.T) {
	grey := func(v uint8) color.Color { return color.NRGBA{v, v, v, 255} }
	for _, test := range []struct {
		shades  []color.Color
		doubted bool
	}{
		{[]color.Color{grey(70), grey(100), grey(130), grey(160), grey(190), grey(90), color.White}, false}, // 6 of 30 rows
		{[]color.Color{grey(70), grey(100), grey(130), grey(160), grey(190), grey(90), grey(80), grey(60), color.White}, true},
	} {
		known, doubt, err := Known(paintedMask(color.Black, test.shades...), imageplanes.New(1, 30, 20))
		require.NoError(t, err)
		require.Equal(t, test.doubted, strings.Contains(doubt.Text, "is it a photograph?"), doubt)
		for k := range test.shades {
			require.False(t, known[(2*k+2)*20])
		}
	}
}

// Strokes that are painted over a copy of the photograph, or erased from it, are a mask. The copy may be a JPEG.
func TestPaintedOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(20, 40).Draw(t, "h"), rapid.IntRange(20, 40).Draw(t, "w")
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		p := imageplanes.New(channels, h, w)
		phase := rapid.Float64Range(0, 6).Draw(t, "phase")
		for c := range channels {
			for i := range h * w {
				p.Plane(c)[i] = float32(0.5 + 0.3*math.Sin(float64(i%w)/7+phase)*math.Cos(float64(i/w)/5+float64(c)))
			}
		}
		copied := image.NewNRGBA(image.Rect(0, 0, w, h))
		strokes := []color.NRGBA{{255, 0, 0, 255}, {255, 255, 255, 255}, {0, 0, 0, 255}, {}, {90, 255, 90, 255}}
		stroke := rapid.SampledFrom(strokes).Draw(t, "stroke")
		noise := rapid.IntRange(0, 20).Draw(t, "noise of the copy")
		from, lines := rapid.IntRange(0, h-6).Draw(t, "from"), rapid.IntRange(1, 5).Draw(t, "lines")
		want := make([]bool, h*w)
		for i := range want {
			var v [3]uint8
			for c := range v {
				v[c] = uint8(255*p.Plane(min(c, channels-1))[i]) + uint8(i*7%(noise+1)) - uint8(noise/2)
			}
			copied.SetNRGBA(i%w, i/w, color.NRGBA{v[0], v[1], v[2], 255})
			if want[i] = i/w < from || i/w >= from+lines; !want[i] {
				copied.SetNRGBA(i%w, i/w, stroke)
			}
		}
		known, doubt, err := Known(copied, p)
		require.NoError(t, err)
		require.Empty(t, doubt)
		require.Equal(t, want, known)
	})
}

// Widen is what its definition says, and keeps the last known pixels.
func TestWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 9).Draw(t, "h"), rapid.IntRange(1, 9).Draw(t, "w")
		known := rapid.SliceOfN(rapid.Bool(), h*w, h*w).Draw(t, "known")
		across, down := rapid.IntRange(0, 3).Draw(t, "across"), rapid.IntRange(0, 3).Draw(t, "down")
		want, left := slices.Clone(known), false
		for i := range want {
			for j, is := range known {
				if !is && max(i%w-j%w, j%w-i%w) <= across && max(i/w-j/w, j/w-i/w) <= down {
					want[i] = false
				}
			}
			left = left || want[i]
		}
		if !left {
			want = known
		}
		require.Equal(t, want, Widen(known, w, across, down))
	})
}
