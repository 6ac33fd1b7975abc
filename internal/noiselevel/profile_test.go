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
	for axes, l := range map[int]*layers{1: &greyLayers, 2: &colourLayers} {
		require.Len(t, l.shift, featureCounts[axes])
		require.Len(t, l.scale, featureCounts[axes])
		inputs := featureCounts[axes]
		for _, rows := range l.rows {
			for _, row := range rows {
				require.Len(t, row, inputs+1)
			}
			inputs = len(rows)
		}
		require.Equal(t, 3, inputs)
		low, middle, high := l.level(make([]float64, featureCounts[axes]))
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

// TestMasked: what is believed of a level falls as texture grows, begins whole, and never falls as the
// level rises.
func TestMasked(t *testing.T) {
	require.Equal(t, 1.0, masked(0, 1))
	require.Equal(t, 1.0, masked(doubtedFrom, 1))
	require.InDelta(t, doubtedShare, masked(maskedFrom, 1), 1e-12)
	require.Less(t, masked(2*maskedFrom, 1), doubtedShare/2)
	require.Equal(t, 1.0, masked(1e3, 0))
	rapid.Check(t, func(t *rapid.T) {
		floor := rapid.Float64Range(1e-4, 1).Draw(t, "floor")
		low := rapid.Float64Range(1e-4, 0.3).Draw(t, "level")
		high := rapid.Float64Range(low, 0.6).Draw(t, "higher level")
		texture := rapid.Float64Range(0, 1).Draw(t, "texture")
		share := masked(floor/low, texture)
		require.Greater(t, share, 0.0)
		require.LessOrEqual(t, share, masked(floor/high, texture))
		require.LessOrEqual(t, low*share, high*masked(floor/high, texture))
		require.GreaterOrEqual(t, share, masked(2*floor/low, texture))
		require.LessOrEqual(t, share, masked(floor/low, texture/2))
	})
}

// The second band doubts a level where it has far more, and the finest band next to nothing.
func TestCovered(t *testing.T) {
	require.Equal(t, 1.0, covered(coveredFrom, 0))
	require.InDelta(t, math.Pow(coveredFrom/2, coveredPower), covered(2, smoothTo), 1e-12)
	require.InDelta(t, coveredShare, covered(100, 0), 1e-12)
	require.Equal(t, 1.0, covered(100, smoothFrom), "the finest band shows noise that is not smoothed")
	rapid.Check(t, func(t *rapid.T) {
		second, finest := rapid.Float64Range(0, 20).Draw(t, "second"), rapid.Float64Range(0, 1).Draw(t, "finest")
		share := covered(second, finest)
		require.True(t, share >= coveredShare && share <= 1)
		require.GreaterOrEqual(t, share, covered(1.1*second, finest))
		require.LessOrEqual(t, share, covered(second, 1.1*finest))
	})
}

// What is in the second band buries noise, the deeper, the more it is.
func TestBuried(t *testing.T) {
	require.Equal(t, 1.0, buried(0))
	require.Equal(t, 1.0, buried(buriedFrom))
	require.InDelta(t, 1/math.Pow(1.5, buriedPower), buried(1.5*buriedFrom), 1e-12)
	require.InDelta(t, buriedShare, buried(100), 1e-12)
}

// notRounded says of a spectrum that JPEG has rounded nothing.
func notRounded() float64 { return 0 }

// Colour that is far stronger than the rule's level of brightness does not speak for noise, and colour of about the
// level does.
func TestColourSpeaksForNoiseOfItsLevel(t *testing.T) {
	believed := func(colour float64) float64 {
		const middle = 20.0 / 255
		s := &spectrum{axes: 2, rounded: notRounded}
		for q := range quantiles {
			s.floor[axisOfBrightness][0][q] = 6 * middle
			s.floor[axisOfBrightness][1][q] = middle
			s.floor[axisOfBrightness][2][q] = middle * (1 + float64(q)) // uneven, as texture is
			s.floor[axisOfBrightness][3][q] = middle * (0.1 + 0.4*float64(q))
			s.floor[axisOfColour][0][q] = colour * middle
			s.floor[axisOfColour][1][q] = colour * middle
		}
		return Profile{Kind: White}.judged(s, judgement{0.9 * middle, middle, 1.1 * middle}).Sigma / middle
	}
	none := believed(0)
	require.Less(t, none, 0.9)
	require.Greater(t, believed(maskedColour), none+0.1)
	require.InDelta(t, believed(maskedColour), believed(colourfulFrom), 1e-12)
	between := believed((colourfulFrom + colourfulTo) / 2)
	require.True(t, between < believed(colourfulFrom) && between > believed(colourfulTo))
	most := believed(colourfulTo)
	require.InDelta(t, math.Pow(none, colourfulShare), most, 0.02)
	require.Equal(t, most, believed(falseFrom))
	require.InDelta(t, none, believed(falseTo), 0.02, "far too much colour")
	require.Equal(t, believed(falseTo), believed(4))
}

// Of a blurred image what floors say is believed, whatever colour and the second band say.
func TestBlurredImagesHaveNoTexture(t *testing.T) {
	const middle = 8.0 / 255
	level := func(blurred bool) float64 {
		s := &spectrum{axes: 2, blurred: blurred, rounded: notRounded}
		for q := range quantiles {
			s.floor[axisOfBrightness][0][q] = 1.8 * middle
			s.floor[axisOfBrightness][1][q] = 3 * middle
			s.floor[axisOfBrightness][2][q] = middle
			s.floor[axisOfColour][0][q] = 2 * middle
			s.floor[axisOfColour][1][q] = middle
		}
		return Profile{Kind: White}.judged(s, judgement{0.9 * middle, middle, 1.1 * middle}).Sigma / middle
	}
	require.InDelta(t, 1.6, level(true), 0.1)
	require.Less(t, level(false), 0.6)
}

// The floor of the lowest band raises the level of a soft image where the noise is weak, less and less where
// it is strong, and only where colour is quiet.
func TestSoftnessCountsWhereNoiseIsWeak(t *testing.T) {
	raisedIn := func(middle, colour float64) float64 {
		s := &spectrum{axes: 2, rounded: notRounded}
		for q := range quantiles {
			s.floor[axisOfBrightness][0][q] = 1.8 * middle
			s.floor[axisOfBrightness][1][q] = middle
			s.floor[axisOfBrightness][2][q] = middle
			s.floor[axisOfColour][0][q] = colour * middle
			s.floor[axisOfColour][1][q] = middle
		}
		return Profile{Kind: White}.judged(s, judgement{0.9 * middle, middle, 1.1 * middle}).Sigma / middle
	}
	raised := func(middle float64) float64 { return raisedIn(middle, quietMost) }
	require.InDelta(t, 1.6, raised(8.0/255), 0.1)
	require.Equal(t, raised(8.0/255), raisedIn(8.0/255, 0))
	require.InDelta(t, 1.3, raisedIn(8.0/255, (quietMost+loudLeast)/2), 0.1)
	require.InDelta(t, 1, raisedIn(8.0/255, loudLeast), 1e-12)
	require.Equal(t, raised(6.0/255), raised(softFrom))
	half := raised((softFrom + softTo) / 2)
	require.Less(t, half, raised(softFrom)-0.1)
	require.Greater(t, half, 1.1)
	require.InDelta(t, 1, raised(softTo), 1e-12)
	require.InDelta(t, 1, raised(40.0/255), 1e-12)
}

// What is steep in brightness lowers the level of a sharp image, by a quarter at most.
func TestSteepnessCountsInSharpImages(t *testing.T) {
	level := func(steep float64) float64 {
		const middle = 20.0 / 255
		s := &spectrum{axes: 2, rounded: notRounded}
		for q := range quantiles {
			s.floor[axisOfBrightness][0][q] = middle
			s.floor[axisOfBrightness][1][q] = steep * middle
			s.floor[axisOfBrightness][2][q] = middle
			s.floor[axisOfBrightness][3][q] = steep * middle * 0.8
			s.floor[axisOfColour][0][q] = middle
			s.floor[axisOfColour][1][q] = middle
		}
		s.floor[axisOfBrightness][2][0], s.floor[axisOfBrightness][3][0] = middle/2, steep*middle*0.6 // uneven, as texture is
		return Profile{Kind: White}.judged(s, judgement{0.9 * middle, middle, 1.1 * middle}).Sigma / middle
	}
	require.InDelta(t, 1, level(1), 1e-12)
	require.InDelta(t, 1, level(steepFrom), 1e-12)
	require.InDelta(t, 1-steepShare/2, level((steepFrom+steepTo)/2), 1e-9)
	require.InDelta(t, 1-steepShare, level(steepTo), 1e-9)
	require.InDelta(t, 1-steepShare, level(buriedFrom), 1e-9)
}

// A fine band that is even shows noise under texture that hides it in the coarser ones: what the rule says of it is
// believed, and the finest band tells more than the rule where that says too little.
func TestEvenBandsShowNoise(t *testing.T) {
	const middle = 7.0 / 255
	type band struct{ floor, spread float64 } // over middle, and how much more each quantile has
	const texture = 0.4
	levelOf := func(rule float64, second, finest band, jpeg float64) float64 {
		s := &spectrum{axes: 2, rounded: func() float64 { return jpeg }}
		for q := range quantiles {
			of := func(b band) float64 { return b.floor * middle * (1 + b.spread*float64(q)) }
			s.floor[axisOfBrightness][0][q] = of(band{8, texture})
			s.floor[axisOfBrightness][1][q] = of(band{4, texture})
			s.floor[axisOfBrightness][2][q] = of(second)
			s.floor[axisOfBrightness][3][q] = of(finest)
			s.floor[axisOfColour][0][q] = middle
		}
		return Profile{Kind: White}.judged(s, judgement{0.7 * rule * middle, rule * middle, 1.4 * rule * middle}).Sigma / middle
	}
	level := func(rule float64, second, finest band) float64 { return levelOf(rule, second, finest, 1) }
	require.Less(t, level(1, band{2.2, texture}, band{1.35, texture}), 0.3, "texture in all bands")
	require.InDelta(t, 1, level(1, band{2.2, texture}, band{1.35, 0.01}), 1e-9, "the finest band is even")
	require.InDelta(t, 1, level(0.5, band{2.2, texture}, band{1.35, 0.01}), 1e-9, "and tells more than the rule")
	require.InDelta(t, 1, level(1, band{1.2, 0.01}, band{0.3, 5}), 1e-9, "JPEG has taken the finest, and the second is even")
	none := levelOf(1, band{1.2, 0.01}, band{0.3, 5}, 0)
	require.Less(t, none, 0.3, "without JPEG, what is even there may be gravel")
	require.InEpsilon(t, math.Sqrt(none), levelOf(1, band{1.2, 0.01}, band{0.3, 5}, 0.5), 1e-9, "half of the way, in decibels")
	require.Less(t, level(0.5, band{2.2, 0.01}, band{0.3, 5}), 0.2, "an even second band of far more than the level is texture")
	require.Less(t, level(1, band{0.5, 0.01}, band{0.3, 5}), 0.5, "noise of cameras has less in both")
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(t, name) }
		rule, finest, second, spread := draw("rule", 0.05, 5), draw("finest", 1.5, 5), draw("second", 0.01, 5), draw("spread", 0, 0.3)
		more := level(rule, band{second, texture}, band{finest, spread / 2})
		require.GreaterOrEqual(t, more, level(rule, band{second, texture}, band{finest, spread})-1e-12, "the more even, the more is believed")
	})
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
