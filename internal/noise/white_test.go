package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scenes are colour images without noise, values in [0.1, 0.9]; u and v run over
// [0, 1) across and down.
var scenes = map[string]func(c int, u, v float64) float64{
	"constant": func(c int, u, v float64) float64 { return 0.3 + 0.2*float64(c) },
	"gradient": func(c int, u, v float64) float64 { return 0.2 + 0.5*u + 0.1*v*float64(c) },
	"edges": func(c int, u, v float64) float64 {
		if math.Hypot(u-0.5, v-0.4) < 0.3 || v > 0.8 && u > 0.3 {
			return 0.8 - 0.2*float64(c)
		}
		return 0.25 + 0.1*float64(c)
	},
	// Texture on two thirds of the area, strong in brightness, weak in colour.
	"texture": func(c int, u, v float64) float64 {
		if u < 1.0/3 {
			return 0.4
		}
		return 0.5 + (0.3+0.02*float64(c))*math.Sin(150*u+30*v)*math.Sin(90*v)
	},
}

func render(scene func(c int, u, v float64) float64, channels, height, width int) []float32 {
	pix := make([]float32, 0, channels*height*width)
	for c := range channels {
		for y := range height {
			for x := range width {
				pix = append(pix, float32(scene(c, float64(x)/float64(width), float64(y)/float64(height))))
			}
		}
	}
	return pix
}

func addNoise(pix []float32, sigma float64, seed uint64) []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	noisy := make([]float32, len(pix))
	for i, v := range pix {
		noisy[i] = v + float32(sigma*random.NormFloat64())
	}
	return noisy
}

// toBytes clips to [0, 1] and rounds to multiples of 1/255.
func toBytes(pix []float32) []float32 {
	rounded := make([]float32, len(pix))
	for i, v := range pix {
		rounded[i] = float32(math.Round(255*float64(min(max(v, 0), 1)))) / 255
	}
	return rounded
}

func TestNoiseOnScenes(t *testing.T) {
	if testing.Short() {
		t.Skip("how exact estimates are, whose threads TestSameBitsForAnyThreads races: go test ./... says")
	}
	const height, width = 160, 240
	for name, scene := range scenes {
		for _, channels := range []int{1, 3} {
			clean := render(scene, channels, height, width)
			for i, sigma := range []float64{0.02, 0.05, 0.1, 0.2, 0.3} {
				t.Run(fmt.Sprintf("%s/%d channels/%g", name, channels, sigma), func(t *testing.T) {
					e, err := MeasureWhite(addNoise(clean, sigma, uint64(i)), channels, height, width)
					require.NoError(t, err)
					require.InEpsilon(t, sigma, e.Sigma, 0.04)
					require.True(t, e.Reliable, e.Note)
					require.Empty(t, e.Note)
					require.Len(t, e.PerChannel, channels)
					for _, s := range e.PerChannel {
						require.InEpsilon(t, sigma, s, 0.08)
					}
				})
			}
		}
	}
}

func TestNoiseClippedToBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("how exact estimates are, whose threads TestSameBitsForAnyThreads races: go test ./... says")
	}
	const height, width = 160, 240
	// From black to white and beyond: a fifth of the area is clipped altogether.
	wide := func(c int, u, v float64) float64 { return -0.1 + 1.2*u + 0.05*float64(c)*v }
	for _, channels := range []int{1, 3} {
		clean := render(wide, channels, height, width)
		for i, sigma := range []float64{0.02, 0.05, 0.1, 0.15, 0.2, 0.3} {
			e, err := MeasureWhite(toBytes(addNoise(clean, sigma, uint64(i))), channels, height, width)
			require.NoError(t, err)
			require.InEpsilon(t, sigma, e.Sigma, 0.05, "%d channels, %g", channels, sigma)
			require.True(t, e.Reliable, e.Note)
		}
	}
}

func TestWithoutNoise(t *testing.T) {
	const height, width = 160, 240
	for _, channels := range []int{1, 3} {
		estimate := func(pix []float32) WhiteNoise {
			e, err := MeasureWhite(pix, channels, height, width)
			require.NoError(t, err)
			return e
		}
		e := estimate(render(scenes["constant"], channels, height, width))
		require.Zero(t, e.Sigma)
		require.True(t, e.Reliable)
		require.Equal(t, noteFlat, e.Note)

		require.Less(t, estimate(render(scenes["gradient"], channels, height, width)).Sigma, 1e-6)
		// Rounding to 8 bits is an error of 1/(255√12) = 0.0011 itself.
		require.Less(t, estimate(toBytes(render(scenes["gradient"], channels, height, width))).Sigma, 0.002)
		require.Less(t, estimate(render(scenes["edges"], channels, height, width)).Sigma, 1e-6)

		// Strong texture leaks a little into the frequencies of noise.
		require.Less(t, estimate(render(scenes["texture"], channels, height, width)).Sigma, 0.005)
	}
}

func TestTextureEverywhereIsNotCalledNoise(t *testing.T) {
	const height, width = 160, 240
	// Fine texture whose contrast varies from place to place.
	pix := render(func(_ int, u, v float64) float64 {
		return 0.5 + 0.4*math.Pow(math.Sin(9*u+1)*math.Sin(7*v+2), 2)*math.Sin(1900*u*u)*math.Sin(900*v*(1+u))
	}, 1, height, width)
	e, err := MeasureWhite(pix, 1, height, width)
	require.NoError(t, err)
	require.False(t, e.Reliable)
	require.Equal(t, noteTexture, e.Note)
}

// Black strokes of uneven density on a white page: what is not clipped is content.
func TestPageOfStrokes(t *testing.T) {
	const height, width = 160, 240
	random := rand.New(rand.NewPCG(5, 0))
	pix := render(func(int, float64, float64) float64 { return 1 }, 1, height, width)
	for range 150 {
		y, x := 30+random.IntN(height-60), 30+random.IntN(width-60)
		for k := range 5 + random.IntN(20) {
			pix[y*width+x+k] = 0.1 + 0.8*random.Float32()
		}
	}
	e, err := MeasureWhite(pix, 1, height, width)
	require.NoError(t, err)
	require.Zero(t, e.Sigma)
	require.False(t, e.Reliable)
	require.Equal(t, noteGraphics, e.Note)
}

func TestHalftoneIsNotReliable(t *testing.T) {
	const height, width = 160, 240
	pix := toBytes(addNoise(render(scenes["gradient"], 1, height, width), 1, 1))
	for i, v := range pix {
		pix[i] = float32(math.Round(float64(v)))
	}
	e, err := MeasureWhite(pix, 1, height, width)
	require.NoError(t, err)
	require.False(t, e.Reliable)
	require.Equal(t, noteClipped, e.Note)
}

func TestUnequalChannels(t *testing.T) {
	const n, height, width = 200 * 200, 200, 200
	sigmas := []float64{0.05, 0.03, 0.1}
	pix := render(scenes["gradient"], 3, height, width)
	square := 0.0
	for c, sigma := range sigmas {
		copy(pix[c*n:], addNoise(pix[c*n:(c+1)*n], sigma, uint64(c)))
		square += sigma * sigma / 3
	}
	e, err := MeasureWhite(pix, 3, height, width)
	require.NoError(t, err)
	require.InEpsilon(t, math.Sqrt(square), e.Sigma, 0.04)
	for c, sigma := range sigmas {
		require.InEpsilon(t, sigma, e.PerChannel[c], 0.15, "channel %d", c)
	}
}

// Noise in brightness alone is measured channel by channel, and is no white noise.
func TestNoiseInBrightnessOnly(t *testing.T) {
	const n, height, width = 160 * 240, 160, 240
	grey := addNoise(render(scenes["edges"], 1, height, width), 0.08, 1)
	one, err := MeasureWhite(grey, 1, height, width)
	require.NoError(t, err)
	require.InEpsilon(t, 0.08, one.Sigma, 0.04)
	require.True(t, one.Reliable)
	pix := slices.Repeat(grey, 3)
	same, err := MeasureWhite(pix, 3, height, width)
	require.NoError(t, err)
	require.InEpsilon(t, one.Sigma, same.Sigma, 0.01)
	require.False(t, same.Reliable)

	for i := range n {
		pix[i] += 0.001 * float32(i%7)
	}
	tinted, err := MeasureWhite(pix, 3, height, width)
	require.NoError(t, err)
	require.InEpsilon(t, 0.08, tinted.Sigma, 0.04)
	require.False(t, tinted.Reliable)
	require.Contains(t, tinted.Note, "weaker in colour")
}

func TestSmallImages(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {3, 1}, {3, 3}, {7, 7}, {8, 8}, {8, 9}, {7, 500}, {12, 40}} {
		height, width := size[0], size[1]
		for _, channels := range []int{1, 2, 3, 4} {
			e, err := MeasureWhite(addNoise(make([]float32, channels*height*width), 0.1, 3), channels, height, width)
			require.NoError(t, err)
			require.False(t, e.Reliable, "%v", size)
			require.NotEmpty(t, e.Note)
			require.Len(t, e.PerChannel, channels)
			require.False(t, math.IsNaN(e.Sigma) || e.Sigma < 0)
			switch {
			case max(height, width) < 3:
				require.Zero(t, e.Sigma, "%v", size)
			case height*width >= 400:
				require.InEpsilon(t, 0.1, e.Sigma, 0.2, "%v", size)
			default:
				require.Less(t, e.Sigma, 0.4, "%v", size)
			}
		}
	}
	long, err := MeasureWhite(addNoise(render(scenes["gradient"], 1, 1, 5000), 0.1, 4), 1, 1, 5000)
	require.NoError(t, err)
	require.InEpsilon(t, 0.1, long.Sigma, 0.05)
}

func TestRefusedInput(t *testing.T) {
	for _, c := range []struct{ n, channels, height, width int }{
		{0, 0, 1, 1}, {0, 1, 0, 5}, {0, 1, 5, -1}, {11, 1, 3, 4}, {13, 1, 3, 4}, {12, 3, 3, 4}, {16, 1, math.MaxInt/4 + 5, 4},
	} {
		_, err := MeasureWhite(make([]float32, c.n), c.channels, c.height, c.width)
		require.Error(t, err, "%+v", c)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []int{0, 299, 300, 899} {
			pix := render(scenes["edges"], 3, 15, 20)
			pix[at] = float32(bad)
			_, err := MeasureWhite(pix, 3, 15, 20)
			require.ErrorContains(t, err, fmt.Sprintf("channel %d holds NaN or infinite", at/300))
		}
	}
}

func TestHugeValuesStayFinite(t *testing.T) {
	pix := addNoise(make([]float32, 3*40*40), 1e17, 1)
	e, err := MeasureWhite(pix, 3, 40, 40)
	require.NoError(t, err)
	require.InEpsilon(t, 1e17, e.Sigma, 0.2)
}

func TestScaleAndShift(t *testing.T) {
	if testing.Short() {
		t.Skip("how exact estimates are, whose threads TestSameBitsForAnyThreads races: go test ./... says")
	}
	const height, width = 32, 40
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"constant", "gradient", "edges", "texture"}).Draw(t, "scene")
		channels := rapid.IntRange(1, 3).Draw(t, "channels")
		sigma := rapid.Float64Range(0.02, 0.3).Draw(t, "sigma")
		pix := addNoise(render(scenes[name], channels, height, width), sigma, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "bytes") {
			pix = toBytes(pix)
		}
		e, err := MeasureWhite(pix, channels, height, width)
		require.NoError(t, err)
		require.Positive(t, e.Sigma)

		// Powers of two are exact.
		exact := make([]float32, len(pix))
		factor := float32(math.Ldexp(1, rapid.IntRange(-8, 8).Draw(t, "exponent")))
		for i, v := range pix {
			exact[i] = v * factor
		}
		scaled, err := MeasureWhite(exact, channels, height, width)
		require.NoError(t, err)
		require.Equal(t, e.Sigma*float64(factor), scaled.Sigma)
		require.Equal(t, e.Reliable, scaled.Reliable)

		// Any scale and shift, negative too, up to rounding and the tolerance of
		// the fixed point.
		moved := make([]float32, len(pix))
		a := rapid.Float32Range(0.1, 10).Draw(t, "scale")
		if rapid.Bool().Draw(t, "negative") {
			a = -a
		}
		b := rapid.Float32Range(-2, 2).Draw(t, "shift")
		for i, v := range pix {
			moved[i] = float32(a*v) + b
		}
		affine, err := MeasureWhite(moved, channels, height, width)
		require.NoError(t, err)
		require.InEpsilon(t, math.Abs(float64(a))*e.Sigma, affine.Sigma, 0.01)
	})
}

func TestSameBitsForAnyThreads(t *testing.T) {
	pix := toBytes(addNoise(render(scenes["edges"], 3, 100, 150), 0.1, 9))
	want, err := MeasureWhite(pix, 3, 100, 150)
	require.NoError(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	got, err := MeasureWhite(pix, 3, 100, 150)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A frame of one colour in the middle of the range, which is no clipping, says nothing of the noise inside it.
func TestWhiteNoiseInFrame(t *testing.T) {
	const height, width, border, sigma = 160, 240, 40, 0.1
	for _, channels := range []int{1, 3} {
		pix := toBytes(addNoise(render(scenes["edges"], channels, height, width), sigma, 1))
		for i := range pix {
			y, x := i/width%height, i%width
			if min(y, height-1-y, x, width-1-x) < border {
				pix[i] = 100. / 255
			}
		}
		e, err := MeasureWhite(pix, channels, height, width)
		require.NoError(t, err)
		require.InEpsilon(t, sigma, e.Sigma, 0.05, "%d channels", channels)
		require.True(t, e.Reliable, e.Note)
	}
}
