package rawdenoise

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/anscombe"
	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/raw"
)

var patterns = []raw.Pattern{{{0, 1}, {1, 2}}, {{1, 0}, {2, 1}}, {{1, 2}, {0, 1}}, {{2, 1}, {1, 0}}}

// mosaic is a smooth one, of any light.
func mosaic(h, w int, p raw.Pattern) *raw.Image {
	m := &raw.Image{Width: w, Height: h, Samples: 1, Mosaic: true, Pattern: p, Low: -1}
	for i := range h * w {
		m.Pix = append(m.Pix, float32(.3+.2*math.Sin(float64(i%w)/3)*math.Cos(float64(i/w)/4)+.1*float64(m.Colour(i%w, i/w))))
	}
	return m
}

// TestViewBeginsWithRed: whatever the pattern and the size are, the samples of a mosaic are in the planes of their colours at every second
// row and column, red first, and are found there again.
func TestViewBeginsWithRed(t *testing.T) {
	sensor, err := NewSensor(sensorNoise)
	require.NoError(t, err)
	rgb := demosaic.Pattern{0, 1, 1, 2}
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(2, 12).Draw(t, "rows"), rapid.IntRange(2, 12).Draw(t, "columns")
		m := mosaic(h, w, rapid.SampledFrom(patterns).Draw(t, "pattern"))
		v, err := sensor.View(m)
		require.NoError(t, err)
		p := v.Readings(m)
		require.Zero(t, p.Height%2+p.Width%2)
		require.Len(t, p.Pix, 3*p.Height*p.Width)
		got := make([]float32, h*w)
		v.samples(m, got, p.Pix)
		require.InDeltaSlice(t, v.s.pix, got, 1e-5)
		// Another plane than that of the filter has no part in it.
		for i := range p.Pix {
			if x, y := i%p.Width, i/p.Width%p.Height; rgb.At(y, x) != i/(p.Height*p.Width) {
				p.Pix[i] = float32(math.NaN())
			}
		}
		v.samples(m, got, p.Pix)
		require.InDeltaSlice(t, v.s.pix, got, 1e-5)
	})
}

// TestViewIsThatOfDenoise: what a network learns from is what it gets.
func TestViewIsThatOfDenoise(t *testing.T) {
	m := exposed(258, 257, 1)
	stop := errors.New("seen")
	var got Picture
	var told float64
	take := func(_ context.Context, p Picture, sigma float64) ([]float32, error) {
		got, told = p, sigma
		return nil, stop
	}
	_, report, err := Denoise(t.Context(), m, always(m), take)
	require.ErrorIs(t, err, stop)
	require.Empty(t, report)
	measured, _, err := measure(m)
	require.NoError(t, err)
	sensor, err := NewSensor(measured.Noise[0])
	require.NoError(t, err)
	v, err := sensor.View(m)
	require.NoError(t, err)
	require.Equal(t, v.Sigma(), told)
	want := v.Readings(m)
	require.Equal(t, [3]int{want.Width, want.Height, want.Channels}, [3]int{got.Width, got.Height, got.Channels})
	require.InDeltaSlice(t, want.Pix, got.Pix, 1e-5)
}

// TestViewOfLight: it is the mean of many readings, which the inverse of the transform makes the light again.
func TestViewOfLight(t *testing.T) {
	const h, w, shots = 6, 8, 4000
	light := mosaic(h, w, patterns[2])
	sensor, err := NewSensor(raw.Noise{Gain: .02, Offset: 2e-4}) // some ten electrons
	require.NoError(t, err)
	v, err := sensor.View(light)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(3, 4))
	shot := *light
	shot.Pix = make([]float32, h*w)
	sums := make([]float64, h*w)
	for range shots {
		for i, x := range light.Pix {
			shot.Pix[i] = float32(.02*distuv.Poisson{Lambda: float64(x) / .02, Src: r}.Rand() + math.Sqrt(2e-4)*r.NormFloat64())
		}
		samples := make([]float32, h*w)
		v.samples(&shot, samples, v.Readings(&shot).Pix)
		for i, s := range samples {
			sums[i] += float64(s) / shots
		}
	}
	samples := make([]float32, h*w)
	v.samples(light, samples, v.Light(light).Pix)
	for i, s := range samples {
		require.InDelta(t, sums[i], s, 5/math.Sqrt(shots)/v.s.span)
	}
	v.s.pix = samples
	require.InDeltaSlice(t, light.Pix, v.s.light(), 1e-5)
}

// TestViewRefuses: no noise, and no mosaic.
func TestViewRefuses(t *testing.T) {
	_, err := NewSensor(raw.Noise{})
	require.Error(t, err)
	sensor, err := NewSensor(sensorNoise)
	require.NoError(t, err)
	m := mosaic(4, 4, patterns[0])
	m.Pix[3] = float32(math.Inf(1))
	_, err = sensor.View(m)
	require.ErrorContains(t, err, "Inf")
	_, err = sensor.View(mosaic(1, 4, patterns[0]))
	require.ErrorContains(t, err, "4×1 pixels")
	_, err = sensor.View(exposed(4, 4, 3))
	require.ErrorContains(t, err, "no mosaic")
}

// TestOneTransform: that of all colours of a mosaic is made once.
func TestOneTransform(t *testing.T) {
	s, err := stabilise(mosaic(4, 4, patterns[0]), []raw.Noise{sensorNoise, sensorNoise, sensorNoise})
	require.NoError(t, err)
	require.Equal(t, []*anscombe.Transform{s.transforms[0], s.transforms[0], s.transforms[0]}, s.transforms)
	require.Same(t, s.transforms[0], s.transforms[2])
}
