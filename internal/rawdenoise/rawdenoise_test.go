package rawdenoise

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/raw"
)

var sensorNoise = raw.Noise{Gain: 2e-3, Offset: 1e-5}

// lights are those of red, green and blue.
var lights = [3]float64{.02, .3, .1}

// lamp tells whether a pixel of exposed is saturated.
func lamp(x, y int) bool { return (x == 7 || x == 8) && (y == 9 || y == 10) }

// exposed is a flat area, where 2×2 pixels from column 7 and row 9 on are saturated.
func exposed(width, height, samples int) *raw.Image {
	r := rand.New(rand.NewPCG(1, uint64(width)))
	m := &raw.Image{Width: width, Height: height, Samples: samples, Mosaic: samples == 1, Pattern: raw.Pattern{{1, 2}, {0, 1}}, Low: -1}
	for y := range height {
		for x := range width {
			for s := range samples {
				c := s
				if m.Mosaic {
					c = int(m.Colour(x, y))
				}
				v := lights[c] + math.Sqrt(sensorNoise.At(lights[c]))*r.NormFloat64()
				if lamp(x, y) {
					v = 1
				}
				m.Pix = append(m.Pix, float32(v))
			}
		}
	}
	return m
}

// means is the denoiser that knows that pictures are flat.
func means(calls *[]Picture, sigmas *[]float64) Denoiser {
	return func(_ context.Context, p Picture, sigma float64) ([]float32, error) {
		*calls, *sigmas = append(*calls, p), append(*sigmas, sigma)
		n := p.Width * p.Height
		out := make([]float32, len(p.Pix))
		for c := range p.Channels {
			sum := 0.
			for _, v := range p.Pix[c*n : (c+1)*n] {
				sum += float64(v)
			}
			for i := range n {
				out[c*n+i] = float32(sum / float64(n))
			}
		}
		return out, nil
	}
}

// deviation of a plane, without what is far away.
func deviation(pix []float32) float64 {
	s := slices.Clone(pix)
	slices.Sort(s)
	s = s[len(s)/50 : len(s)-len(s)/50]
	var sum, squares float64
	for _, v := range s {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	n := float64(len(s))
	// What is left of a normal distribution without 2 % at each end has .885 of its deviation.
	return math.Sqrt(squares/n-sum/n*sum/n) / .885
}

// The noise that a denoiser gets has the deviation that it is told, where it is behind the filters of its colour, and means of light are
// kept.
func TestMeans(t *testing.T) {
	for _, c := range []struct{ width, height, samples, calls int }{
		{258, 256, 1, 1}, {257, 259, 1, 1}, {129, 130, 3, 1}, {129, 130, 2, 2},
	} {
		m := exposed(c.width, c.height, c.samples)
		before := slices.Clone(m.Pix)
		var pictures []Picture
		var sigmas []float64
		out, report, err := Denoise(context.Background(), m, always(m), means(&pictures, &sigmas))
		require.NoError(t, err)
		require.Equal(t, before, m.Pix, "the image is the caller's")
		require.Len(t, pictures, c.calls)
		require.Len(t, slices.Compact(sigmas), 1)
		for _, p := range pictures {
			require.Len(t, p.Pix, p.Width*p.Height*p.Channels)
			squares := 0.
			for k := range p.Channels {
				plane := p.Pix[k*p.Width*p.Height : (k+1)*p.Width*p.Height]
				if !m.Mosaic {
					require.InEpsilon(t, sigmas[0], deviation(plane), .15)
					continue
				}
				filtered := func(y, x int) {
					var samples []float32
					for ; y < p.Height; y += 2 {
						for i := x; i < p.Width; i += 2 {
							samples = append(samples, plane[y*p.Width+i])
						}
					}
					squares += math.Pow(deviation(samples), 2) / 4
				}
				filtered(k/2, (k+1)/2)
				if k == 1 {
					filtered(1, 0)
				}
			}
			if m.Mosaic {
				require.InEpsilon(t, sigmas[0], coloured*math.Sqrt(squares), .15)
			}
		}
		require.False(t, report.Claimed)
		for i, l := range report.Noise {
			require.InEpsilon(t, sensorNoise.At(lights[i]), l.At(lights[i]), .25)
		}
		for i, v := range out.Pix {
			x, y, colour := i/c.samples%c.width, i/c.samples/c.width, i%c.samples
			if m.Mosaic {
				colour = int(m.Colour(x, y))
			}
			want, bound := lights[colour], .004
			if lamp(x, y) { // saturated pixels stay
				want, bound = 1, 0
			}
			if math.Abs(float64(v)-want) > bound {
				t.Fatalf("%d samples, column %d, row %d: %g, not %g ± %g", c.samples, x, y, v, want, bound)
			}
		}
	}
}

// A denoiser that changes nothing changes no light, whatever the pattern and the size are: the transform and the view are undone.
func TestIdentity(t *testing.T) {
	same := func(_ context.Context, p Picture, _ float64) ([]float32, error) { return p.Pix, nil }
	rapid.Check(t, func(rt *rapid.T) {
		h, w := rapid.IntRange(2, 9).Draw(rt, "rows"), rapid.IntRange(2, 9).Draw(rt, "columns")
		m := &raw.Image{
			Width: w, Height: h, Mosaic: true, Samples: 1, Noise: []raw.Noise{{Offset: .04}}, // so much that no pixel is hot
			Pattern: rapid.SampledFrom(patterns).Draw(rt, "pattern"),
		}
		for range h * w {
			m.Pix = append(m.Pix, float32(rapid.Float64Range(0, 1.1).Draw(rt, "light")))
		}
		out, report, err := Denoise(context.Background(), m, always(m), same)
		require.NoError(rt, err)
		require.True(rt, report.Claimed)
		require.InDeltaSlice(rt, m.Pix, out.Pix, 2e-5)
	})
}

// A denoiser that loses a tenth of the light gets it back, whatever the image is, except for the noise
// of means.
func TestKeepMeans(t *testing.T) {
	const w, h = 150, 90
	r := rand.New(rand.NewPCG(9, 9))
	measured, light := make([]float32, w*h), make([]float32, w*h)
	for i := range measured {
		v := .1 + .5*float64(i%w)/w
		measured[i] = float32(v + .05*r.NormFloat64())
		light[i] = float32(.9 * v)
	}
	measured[0] = 2 // saturated
	keepMeans(light, measured, w, 1)
	for i, v := range light {
		if want := .1 + .5*float64(i%w)/w; math.Abs(float64(v)-want) > .012 {
			t.Fatalf("sample %d: %g, not %g", i, v, want)
		}
	}
	few := []float32{1, 2, 3}
	keepMeans(few, []float32{.1, .2, .3}, 3, 1)
	require.InDeltaSlice(t, []float32{-.8, .2, 1.2}, few, 1e-6)
}

// What is too small to be measured has the noise that the camera claims, or none that is known.
func TestClaimedNoise(t *testing.T) {
	fails := errors.New("called")
	never := func(context.Context, Picture, float64) ([]float32, error) { return nil, fails }
	m := &raw.Image{Width: 5, Height: 6, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Pix: make([]float32, 30), Low: -1}
	_, _, err := Denoise(context.Background(), m, always(m), never)
	require.ErrorIs(t, err, ErrNoNoise)
	for _, n := range []raw.Noise{{Gain: -1}, {Gain: math.NaN()}, {Gain: 1, Offset: math.Inf(1)}} {
		m.Noise = []raw.Noise{n}
		_, _, err = Denoise(context.Background(), m, always(m), never)
		require.ErrorIs(t, err, ErrNoNoise)
	}
	m.Noise = []raw.Noise{sensorNoise}
	_, _, err = Denoise(context.Background(), m, always(m), never)
	require.ErrorIs(t, err, fails)
	m.Noise[0] = raw.Noise{}
	out, report, err := Denoise(context.Background(), m, always(m), never)
	require.NoError(t, err)
	require.Equal(t, Report{Noise: make([]raw.Noise, 3), Claimed: true, Unchanged: true}, report)
	require.Equal(t, m.Pix, out.Pix)
	m.Width, m.Height = 1, 30
	_, _, err = Denoise(context.Background(), m, always(m), never)
	require.ErrorContains(t, err, "1×30 pixels")
}

// A flat image has no noise, and comes back as it is.
func TestWithoutNoise(t *testing.T) {
	m := &raw.Image{Width: 200, Height: 200, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Low: -1, Step: 1. / 4095}
	for range 200 * 200 {
		m.Pix = append(m.Pix, .25)
	}
	out, report, err := Denoise(context.Background(), m, always(m), nil)
	require.NoError(t, err)
	require.True(t, report.Unchanged)
	require.Equal(t, m.Pix, out.Pix)
}

// always returns an image again.
func always(m *raw.Image) func() *raw.Image { return func() *raw.Image { return m } }

// A sky that saturates the sensor below the white level of the file stays as it is, and does not hide the noise of the rest.
func TestSaturationBelowWhite(t *testing.T) {
	m := exposed(240, 240, 1)
	const sky = .9
	for i := range m.Pix {
		if m.Pix[i] = min(m.Pix[i], sky); i/m.Width < 90 {
			m.Pix[i] = sky
		}
	}
	var pictures []Picture
	var sigmas []float64
	out, report, err := Denoise(t.Context(), m, always(m), means(&pictures, &sigmas))
	require.NoError(t, err)
	require.InEpsilon(t, sensorNoise.At(.3), report.Noise[1].At(.3), .25)
	require.Equal(t, m.Pix[:90*m.Width], out.Pix[:90*m.Width])
}

// A night of a sensor whose black is 0 has half of its samples there, and noise in the others.
func TestNightAtBlack(t *testing.T) {
	const w, h = 240, 200
	r := rand.New(rand.NewPCG(5, 6))
	m := &raw.Image{Width: w, Height: h, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Step: 1. / 4095}
	sum := 0.
	for range w * h {
		v := max(0, .01*r.NormFloat64())
		m.Pix = append(m.Pix, float32(v))
		sum += v / w / h
	}
	var pictures []Picture
	var sigmas []float64
	out, report, err := Denoise(t.Context(), m, always(m), means(&pictures, &sigmas))
	require.NoError(t, err)
	require.False(t, report.Claimed)
	for _, v := range out.Pix {
		require.InDelta(t, sum, v, .002)
	}
}
