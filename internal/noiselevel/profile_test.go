package noiselevel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/perceptron"
)

// White noise has the same floor in every band, at every quantile and on every axis: its standard
// deviation.
func TestSpectrumOfWhiteNoise(t *testing.T) {
	const h, w, sigma = 300, 280, 0.07
	for _, channels := range []int{1, 3} {
		s := newSpectrum(addNoise(make([]float32, channels*h*w), sigma, 3), channels, h, w, make([]valueRange, channels))
		require.NotNil(t, s)
		for a := range s.axes {
			for b := range bandCount {
				for q, floor := range s.floor[a][b] {
					// The lowest quantile of three coefficients is hardly known.
					tolerance := 0.05 + 0.5/math.Sqrt(float64(freedom(b)))*math.Max(0, 0.3-quantiles[q])
					require.InEpsilon(t, sigma, floor, tolerance+0.05, "axis %d, band %d, quantile %v", a, b, quantiles[q])
				}
			}
		}
		require.Equal(t, channels == 3, s.whiteInColour())
		require.Len(t, s.features(), featureCounts[s.axes])
	}
}

// Noise that is blurred has less of high frequencies, as its transfer function says.
func TestSpectrumOfBlurredNoise(t *testing.T) {
	const h, w = 300, 280
	white := addNoise(make([]float32, h*w), 0.1, 5)
	soft := make([]float32, h*w)
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			for dy, a := range [3]float32{0.25, 0.5, 0.25} {
				for dx, b := range [3]float32{0.25, 0.5, 0.25} {
					soft[y*w+x] += a * b * white[(y+dy-1)*w+x+dx-1]
				}
			}
		}
	}
	s := newSpectrum(soft, 1, h, w, make([]valueRange, 1))
	median := func(band int) float64 { return s.floor[axisOfBrightness][band][3] }
	require.InDelta(t, 0.085, median(0), 0.012, "gains of periods of 8 to 18 pixels")
	require.Less(t, median(1), 0.85*median(0))
	require.Less(t, median(2), 0.6*median(1))
	require.Less(t, median(3), 0.5*median(2))
	require.InDelta(t, 0.096, median(4), 0.012)
}

// The quantile of the mean of n squares is that of many drawn ones.
func TestMeanSquareQuantile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 12, 32, 130} {
		const draws = 20000
		below := map[float64]int{}
		for range draws {
			sum := 0.0
			for range n {
				v := random.NormFloat64()
				sum += v * v
			}
			for _, q := range quantiles {
				if sum/float64(n) < meanSquareQuantile(q, n) {
					below[q]++
				}
			}
		}
		for _, q := range quantiles {
			require.InDelta(t, q, float64(below[q])/draws, 0.012, "%d squares", n)
		}
	}
}

// Every image has a profile, whatever its size and values, the same with any number of threads.
func TestProfileOfAnyImage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		h, w := rapid.IntRange(1, 70).Draw(t, "height"), rapid.IntRange(1, 70).Draw(t, "width")
		scale := math.Exp(rapid.Float64Range(-12, 3).Draw(t, "logarithm of the scale"))
		pix := addNoise(make([]float32, channels*h*w), scale, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "rounded") {
			pix = toBytes(pix)
		}
		p, err := EstimateProfile(pix, channels, h, w)
		require.NoError(t, err)
		require.False(t, math.IsNaN(p.Sigma) || math.IsInf(p.Sigma, 0) || p.Sigma < 0, "%v", p.Sigma)
		require.LessOrEqual(t, p.Low, p.High)
		require.Len(t, p.PerChannel, channels)
		before := runtime.GOMAXPROCS(1)
		again, err := EstimateProfile(pix, channels, h, w)
		runtime.GOMAXPROCS(before)
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
	_, err := EstimateProfile([]float32{float32(math.NaN())}, 1, 1, 1)
	require.Error(t, err)
	_, err = EstimateProfile(make([]float32, 5), 1, 2, 3)
	require.Error(t, err)
}

// Grey kept as colour is grey, and white noise in it keeps the estimate that it had.
func TestProfileOfGreyKeptAsColour(t *testing.T) {
	const h, w = 128, 128
	grey := toBytes(addNoise(render(scenes["edges"], 1, h, w), 0.05, 8))
	p, err := EstimateProfile(append(append(append([]float32{}, grey...), grey...), grey...), 3, h, w)
	require.NoError(t, err)
	one, err := EstimateProfile(grey, 1, h, w)
	require.NoError(t, err)
	require.Equal(t, one.Sigma, p.Sigma)
	require.Len(t, p.PerChannel, 3)
	require.Equal(t, White, one.Kind)
	require.InEpsilon(t, 0.05, one.Sigma, 0.1)
}

// Noise that is stronger in brightness than in colour, at all frequencies alike, is not white: its level
// is that of brightness and somewhat more. Texture, which is in brightness too but falls toward the finest
// detail, leaves white noise white.
func TestProfileOfNoiseInBrightness(t *testing.T) {
	const h, w, white = 192, 256, 0.045
	noise := func(sigma float64, seed uint64) []float32 { return addNoise(make([]float32, h*w), sigma, seed) }
	pix := addNoise(render(scenes["edges"], 3, h, w), white, 8)
	add := func(to, light []float32) []float32 {
		sum := slices.Clone(to)
		for i := range sum {
			sum[i] += light[i%(h*w)]
		}
		return toBytes(sum)
	}
	// √(1 + 3·0.8²) = 1.7 times as much in brightness.
	p, err := EstimateProfile(add(pix, noise(0.8*white, 3)), 3, h, w)
	require.NoError(t, err)
	require.Equal(t, Coarse, p.Kind)
	require.Greater(t, p.Sigma, 1.5*white)
	require.Less(t, p.Sigma, 2.2*white)

	texture := noise(0.15, 4)
	for range 2 { // a mean over neighbours, twice
		for i := len(texture) - 1; i > w; i-- {
			texture[i] = (texture[i] + texture[i-1] + texture[i-w] + texture[i-w-1]) / 4
		}
	}
	p, err = EstimateProfile(add(pix, texture), 3, h, w)
	require.NoError(t, err)
	require.Equal(t, White, p.Kind)
	require.InEpsilon(t, white, p.Sigma, 0.05)

	varied := noise(white, 5)
	p, err = EstimateProfile(varied, 1, h, w)
	require.NoError(t, err)
	require.True(t, p.Even)
	require.InEpsilon(t, white, p.Learned, 0.3)
	for i := range varied {
		varied[i] *= 0.2 + float32(i%w)/w
	}
	p, err = EstimateProfile(varied, 1, h, w)
	require.NoError(t, err)
	require.False(t, p.Even)
}

// The coefficients fit the features.
func TestLayersFitFeatures(t *testing.T) {
	for axes, l := range map[int]*perceptron.Network{1: &greyLayers, 2: &colourLayers} {
		require.Len(t, l.Shift, featureCounts[axes])
		require.Len(t, l.Scale, featureCounts[axes])
		inputs := featureCounts[axes]
		for _, rows := range l.Rows {
			for _, row := range rows {
				require.Len(t, row, inputs+1)
			}
			inputs = len(rows)
		}
		require.Equal(t, 3, inputs)
		low, middle, high := level(l, make([]float64, featureCounts[axes]))
		require.LessOrEqual(t, low, middle)
		require.LessOrEqual(t, middle, high)
	}
}

// Line art on flat ground has no noise.
func TestProfileOfLineArt(t *testing.T) {
	const h, w = 200, 220
	pix := make([]float32, 3*h*w)
	for i := range pix {
		pix[i] = 1
	}
	for c := range 3 {
		for y := 20; y < h; y += 23 {
			for x := 10; x < w-10; x++ {
				pix[(c*h+y+(x*y)%7)*w+x] = 0
			}
		}
	}
	p, err := EstimateProfile(pix, 3, h, w)
	require.NoError(t, err)
	require.Equal(t, None, p.Kind)
	require.Zero(t, p.Sigma)
}

// White noise that was saved as JPEG is found under texture, and texture that was saved alike is not taken for it.
func TestProfileOfWhiteNoiseSavedUnderTexture(t *testing.T) {
	const h, w, white = 256, 320, 0.03
	random := rand.New(rand.NewPCG(7, 8))
	field := func(std float64) []float64 {
		f := make([]float64, h*w)
		for i := range f {
			f[i] = random.NormFloat64()
		}
		return cameranoise.BlurredPlane(f, h, w, std)
	}
	// Waves of 10 pixels and more, weaker in some places than in others.
	texture, place := field(1.6), field(20)
	pix := make([]float32, 3*h*w)
	for i := range pix {
		pix[i] = float32(min(max(0.5+2*texture[i%(h*w)]*math.Exp(30*place[i%(h*w)]), 0.05), 0.95))
	}
	for name, noise := range map[string]float64{"with noise": white, "without": 0} {
		noisy := addNoise(pix, noise, 5)
		for i, v := range noisy {
			noisy[i] = min(max(v, 0), 1)
		}
		saved, err := cameranoise.Compressed(noisy, h, w, cameranoise.JPEG{Quality: 95, Subsampling: cameranoise.Quarter})
		require.NoError(t, err)
		p, err := EstimateProfile(saved, 3, h, w)
		require.NoError(t, err)
		if noise > 0 {
			require.Equal(t, Coarse, p.Kind)
			require.InEpsilon(t, white, p.Sigma, 0.3, name)
			require.True(t, p.Reliable, p.Note)
			continue
		}
		require.Less(t, p.Sigma, 0.5*white, name)
	}
}
