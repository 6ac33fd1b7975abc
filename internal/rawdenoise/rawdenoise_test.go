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

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/raw"
)

var noise = raw.Noise{Gain: 2e-3, Offset: 1e-5}

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
				v := lights[c] + math.Sqrt(noise.At(lights[c]))*r.NormFloat64()
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

// The noise that denoisers for white noise get is white, with the deviation that they are told, and means of light are kept.
func TestMeans(t *testing.T) {
	for _, c := range []struct{ width, height, samples, white, demosaicked int }{
		{258, 256, 1, 2, 1}, {257, 259, 1, 2, 1}, {129, 130, 3, 1, 0}, {129, 130, 2, 2, 0},
	} {
		m := exposed(c.width, c.height, c.samples)
		before := slices.Clone(m.Pix)
		var white, demosaicked []Picture
		var sigmas []float64
		out, report, err := Denoise(context.Background(), m, Denoisers{means(&white, &sigmas), means(&demosaicked, &sigmas)})
		require.NoError(t, err)
		require.Equal(t, before, m.Pix, "the image is the caller's")
		require.Len(t, white, c.white)
		require.Len(t, demosaicked, c.demosaicked)
		for _, p := range white {
			require.Len(t, p.Pix, p.Width*p.Height*p.Channels)
			for k := range p.Channels {
				require.InEpsilon(t, sigmas[len(sigmas)-1], deviation(p.Pix[k*p.Width*p.Height:(k+1)*p.Width*p.Height]), .15)
			}
		}
		if c.demosaicked == 0 {
			require.Len(t, slices.Compact(sigmas), 1)
		} else { // red and blue, darker than green, are brightened for it, by at most 2
			require.Equal(t, sigmas[1], sigmas[2])
			require.Greater(t, sigmas[0], sigmas[1])
			require.Less(t, sigmas[0], 2*sigmas[1])
		}
		require.False(t, report.Claimed)
		for i, l := range report.Noise {
			require.InEpsilon(t, noise.At(lights[i]), l.At(lights[i]), .25)
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

// Denoisers that change nothing change no light, whatever the pattern and the size are: the transforms and the squares
// are undone.
func TestIdentity(t *testing.T) {
	same := func(_ context.Context, p Picture, _ float64) ([]float32, error) { return p.Pix, nil }
	rapid.Check(t, func(rt *rapid.T) {
		h, w := rapid.IntRange(2, 9).Draw(rt, "rows"), rapid.IntRange(2, 9).Draw(rt, "columns")
		m := &raw.Image{
			Width: w, Height: h, Mosaic: true, Samples: 1, Noise: []raw.Noise{{Offset: .04}}, // so much that no pixel is hot
			Pattern: rapid.SampledFrom([]raw.Pattern{{{0, 1}, {1, 2}}, {{1, 0}, {2, 1}}, {{1, 2}, {0, 1}}, {{2, 1}, {1, 0}}}).Draw(rt, "pattern"),
		}
		for range h * w {
			m.Pix = append(m.Pix, float32(rapid.Float64Range(0, 1.1).Draw(rt, "light")))
		}
		out, report, err := Denoise(context.Background(), m, Denoisers{same, same})
		require.NoError(rt, err)
		require.True(rt, report.Claimed)
		require.InDeltaSlice(rt, m.Pix, out.Pix, 2e-5)
	})
}

// Denoisers that know the light give it back, at every pixel: the squares of both phases are where they came from.
func TestPhases(t *testing.T) {
	for _, size := range [][2]int{{2, 2}, {2, 9}, {8, 8}, {7, 12}, {9, 7}} {
		h, w := size[0], size[1]
		for _, pattern := range []demosaic.Pattern{{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 1}, {2, 1, 1, 0}} {
			clean, pix := make([]float32, h*w), make([]float32, h*w)
			for i := range clean {
				clean[i] = float32(i*i%17) / 17
				pix[i] = clean[i] + float32(i%3)/10
			}
			for phase := range phases {
				q := newQuads(h, w, pattern, phase)
				got := slices.Clone(pix)
				q.mix(got, q.colours(clean), 1, 1)
				before, after := 0., 0.
				for i := range q.h * q.w {
					y, x := i/q.w, i%q.w
					if y|1 < q.h && x|1 < q.w {
						at := q.first + y*q.stride + x
						before += math.Pow(float64(pix[at]-clean[at]), 2)
						after += math.Pow(float64(got[at]-clean[at]), 2)
						if c := pattern.At(y+phase, x+phase); c != 1 {
							require.InDelta(t, clean[at], got[at], 1e-5, "all but the difference of the greens")
						}
					}
				}
				require.LessOrEqual(t, after, before)
			}
		}
	}
}

// The map of squares is an isometry onto what colours and the differences of the greens hold.
func TestSquaresAreOrthogonal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h, w := 2*rapid.IntRange(1, 4).Draw(rt, "rows"), 2*rapid.IntRange(1, 4).Draw(rt, "columns")
		q := newQuads(h, w, rapid.SampledFrom([]demosaic.Pattern{{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 1}, {2, 1, 1, 0}}).Draw(rt, "pattern"), 0)
		pix := make([]float32, h*w)
		before, after := 0., 0.
		for i := range pix {
			pix[i] = float32(rapid.Float64Range(-1, 1).Draw(rt, "v"))
			before += float64(pix[i]) * float64(pix[i])
		}
		for _, v := range q.colours(pix) {
			after += float64(v) * float64(v)
		}
		for i := range q.height * q.width {
			d := float64(pix[q.at(i/q.width, i%q.width, q.greens[0])]-pix[q.at(i/q.width, i%q.width, q.greens[1])]) / math.Sqrt2
			after += d * d
		}
		require.InDelta(rt, before, after, 1e-5)
	})
}

// A denoiser that loses a tenth of the light gets it back, whatever the image is, but for the noise
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
	keepMeans(light, measured, w)
	for i, v := range light {
		if want := .1 + .5*float64(i%w)/w; math.Abs(float64(v)-want) > .012 {
			t.Fatalf("sample %d: %g, not %g", i, v, want)
		}
	}
	few := []float32{1, 2, 3}
	keepMeans(few, []float32{.1, .2, .3}, 3)
	require.InDeltaSlice(t, []float32{-.8, .2, 1.2}, few, 1e-6)
}

// What is too small to be measured has the noise that the camera claims, or none that is known.
func TestClaimedNoise(t *testing.T) {
	fails := errors.New("called")
	never := func(context.Context, Picture, float64) ([]float32, error) { return nil, fails }
	d := Denoisers{never, never}
	m := &raw.Image{Width: 5, Height: 6, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Pix: make([]float32, 30), Low: -1}
	_, _, err := Denoise(context.Background(), m, d)
	require.ErrorIs(t, err, ErrNoNoise)
	for _, n := range []raw.Noise{{Gain: -1}, {Gain: math.NaN()}, {Gain: 1, Offset: math.Inf(1)}} {
		m.Noise = []raw.Noise{n}
		_, _, err = Denoise(context.Background(), m, d)
		require.ErrorIs(t, err, ErrNoNoise)
	}
	m.Noise = []raw.Noise{noise}
	_, _, err = Denoise(context.Background(), m, d)
	require.ErrorIs(t, err, fails)
	m.Noise[0] = raw.Noise{}
	out, report, err := Denoise(context.Background(), m, d)
	require.NoError(t, err)
	require.Equal(t, Report{Noise: make([]raw.Noise, 3), Claimed: true, Unchanged: true}, report)
	require.Equal(t, m.Pix, out.Pix)
	m.Width, m.Height = 1, 30
	_, _, err = Denoise(context.Background(), m, d)
	require.ErrorContains(t, err, "1×30 pixels")
}

// A flat image has no noise, and comes back as it is.
func TestWithoutNoise(t *testing.T) {
	m := &raw.Image{Width: 200, Height: 200, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Low: -1, Step: 1. / 4095}
	for range 200 * 200 {
		m.Pix = append(m.Pix, .25)
	}
	out, report, err := Denoise(context.Background(), m, Denoisers{})
	require.NoError(t, err)
	require.True(t, report.Unchanged)
	require.Equal(t, m.Pix, out.Pix)
}
