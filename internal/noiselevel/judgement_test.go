package noiselevel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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

// Where colour shows white noise, brightness that falls towards the finest band has no more than goes with it, and the rest
// is texture.
func TestColourLimitsLevel(t *testing.T) {
	const colour = 10.0 / 255
	limited := func(level, falls, base, finest float64) float64 {
		s := &spectrum{axes: 2}
		s.floor[axisOfBrightness][1][tenth] = falls * level
		s.floor[axisOfBrightness][3][tenth] = level
		s.floor[axisOfColour][0][tenth] = base * colour
		s.floor[axisOfColour][1][tenth] = colour
		s.floor[axisOfColour][3][tenth] = finest * colour
		return s.limitedByColour(level*colour) / colour
	}
	require.InDelta(t, overColour, limited(3, fallsTo, 1, 1), 1e-12)
	require.InDelta(t, overColour, limited(3, 2*fallsTo, colouredBase, coloured), 1e-12)
	require.InDelta(t, math.Sqrt(3*overColour), limited(3, (fallsFrom+fallsTo)/2, 1, 1), 1e-9)
	require.InDelta(t, 1.4, limited(1.4, fallsTo, 1, 1), 1e-12, "no more than goes with colour")
	require.InDelta(t, 3, limited(3, fallsFrom, 1, 1), 1e-12, "white in brightness, as grain is")
	require.InDelta(t, 3, limited(3, fallsTo, 1, coloured-0.01), 1e-12, "colour that was smoothed")
	require.InDelta(t, 3, limited(3, fallsTo, colouredBase+0.01, 1), 1e-12, "colour of the image")
	require.Zero(t, (&spectrum{axes: 2}).limitedByColour(0))
}

// Where brightness is flat, too, all of it is noise, up to what goes with that of colour, if it is weak.
func TestFlatBrightnessIsNoise(t *testing.T) {
	times := func(ratio, lowest, second, light float64) float64 {
		s := &spectrum{axes: 2}
		s.floor[axisOfBrightness][1][tenth] = lowest * light
		s.floor[axisOfBrightness][2][tenth] = second * light
		s.floor[axisOfBrightness][3][tenth] = light
		return s.whiteInBrightness(ratio, light)
	}
	const weak = 10.0 / 255
	require.InDelta(t, 1.4, times(1.4, 1, 1, weak), 1e-12)
	require.InDelta(t, 1.4, times(1.4, evenLowest, evenSecond, brightWeak), 1e-12)
	require.InDelta(t, whiteMost, times(3, 1, 1, weak), 1e-12)
	require.InDelta(t, math.Sqrt(1.4), times(1.4, (evenLowest+evenLowestEnd)/2, 1, weak), 1e-9)
	for name, one := range map[string]float64{
		"texture falls":                        times(1.4, evenLowestEnd, 1, weak),
		"from the second band":                 times(1.4, 1, evenSecondEnd, weak),
		"as strong as colour":                  times(whiteFrom, 1, 1, weak),
		"strong":                               times(1.4, 1, 1, brightStrong),
		"weaker than can be told from texture": times(1.4, 1, 1, leastBright),
		"nothing":                              times(math.NaN(), 1, 1, 0),
	} {
		require.InDelta(t, 1, one, 1e-12, name)
	}
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
	require.InDelta(t, 1, level(0.8, band{2.2, texture}, band{1.35, 0.01}), 1e-9, "and tells more than the rule")
	require.InDelta(t, 0.7, level(0.5, band{2.2, texture}, band{1.35, 0.01}), 1e-9, "as far as its interval goes")
	require.Less(t, levelOf(0.5, band{2.2, texture}, band{1.35, 0.01}, 0), 0.2, "beyond that it is sea, or grass, without JPEG")
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

// moved returns planes of h×w moved by a part of a pixel to the left and up, by Keys's kernel: interpolation as turning
// and resizing do it, with the highest frequencies weakened.
func moved(pix []float32, h, w int, by float64) []float32 {
	var taps [4]float64
	for k := range taps {
		d := math.Abs(float64(k-1) - by)
		if d <= 1 {
			taps[k] = 1.5*d*d*d - 2.5*d*d + 1
		} else {
			taps[k] = -0.5*d*d*d + 2.5*d*d - 4*d + 2
		}
	}
	along := func(in []float32, step, n int) []float32 {
		out := make([]float32, len(in))
		for i := range in {
			for k, t := range taps {
				at := i/step%n + k - 1
				at = min(max(at, 0), n-1) - i/step%n
				out[i] += float32(t) * in[i+at*step]
			}
		}
		return out
	}
	return along(along(pix, 1, w), w, h)
}

// White noise that was interpolated is told by what it was at low frequencies, as it is before.
func TestInterpolatedNoise(t *testing.T) {
	const h, w = 240, 320
	for _, sigma := range []float64{0.03, 0.08} {
		for _, by := range []float64{0, 0.2, 0.4} {
			pix := moved(addNoise(render(scenes["edges"], 3, h, w), sigma, 8), h, w, by)
			p, err := EstimateProfile(pix, 3, h, w)
			require.NoError(t, err)
			require.Greater(t, p.Sigma, 0.8*sigma, "moved by %v", by)
			require.Less(t, p.Sigma, 1.02*sigma, "moved by %v", by)
			if by == 0.2 { // the finest band alone has 0.77
				require.Greater(t, p.Sigma, 0.95*sigma)
			}
		}
	}
}

// An estimate of white noise that is not sure, and far above all that the rule says, is of texture: glitter on the sea.
func TestUnsureWhiteNoiseIsTextureBeyondTheRule(t *testing.T) {
	const middle = 1.0 / 255
	judged := func(sigma float64, reliable bool) Profile {
		s := &spectrum{axes: 2, rounded: notRounded}
		for q := range quantiles {
			uneven := 1 + 0.5*float64(q)
			for b := range fineBands {
				s.floor[axisOfBrightness][b][q] = 40.0 / 255 * uneven
				s.floor[axisOfColour][b][q] = (5 - float64(b)) / 255 * uneven // not flat
			}
		}
		p := Profile{Kind: White, Sigma: sigma, Reliable: reliable, PerChannel: []float64{sigma, sigma, sigma}}
		return p.judged(s, judgement{0.5 * middle, middle, 2 * middle})
	}
	require.Equal(t, White, judged(2*beyondRule*middle, false).Kind)
	require.Equal(t, White, judged(10*middle, true).Kind)
	beyond := judged(10*middle, false)
	require.Less(t, beyond.Sigma, middle)
	require.NotEqual(t, White, beyond.Kind)
}
