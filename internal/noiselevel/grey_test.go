package noiselevel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a grey image the rule's level is believed, but for what a second band of brightness covers or buries, for steep
// brightness, and for how unsure the rule is; less so where JPEG has rounded. Blurred ones are not doubted, nor is white
// noise that the rule agrees with.
func TestGreyTextureIsDoubted(t *testing.T) {
	const middle = 10.0 / 255
	type bands [fineBands]float64 // over middle
	spectrumOf := func(b bands, jpeg float64) *spectrum {
		s := &spectrum{axes: 1, rounded: func() float64 { return jpeg }}
		for band, v := range b {
			for q := range quantiles {
				s.floor[axisOfBrightness][band][q] = v * middle * (1 + 0.5*float64(q))
			}
		}
		return s
	}
	sure := judgement{0.9 * middle, middle, 1.1 * middle}
	level := func(b bands, jpeg float64, j judgement) float64 {
		return Profile{Kind: White, Sigma: 9 * middle, Reliable: true}.judged(spectrumOf(b, jpeg), j).Sigma / middle
	}
	noise := bands{1, 0.7, 0.6, 0.4}
	require.InDelta(t, 1, level(noise, 0, sure), 1e-12)

	steep := bands{1.2, 0.9, 0.4, 0.7} // by 2.25
	require.InDelta(t, 1-steepShare, level(steep, 0, sure), 1e-12)

	covered := bands{2, 1.3, 1.0, 0.2} // at a tenth of the squares 1.95
	require.InDelta(t, math.Pow(coveredFrom/1.95, coveredPower), level(covered, 0, sure), 1e-9)
	require.InDelta(t, math.Pow(coveredFrom/1.95, coveredPower*(1-greyRounded)), level(covered, 1, sure), 1e-9)

	over := bands{4, 2, 1.6, 0.7} // at a tenth of the squares 3
	require.InDelta(t, math.Pow(buriedFrom/3.0, buriedPower), level(over, 0, sure), 1e-9)
	require.InDelta(t, 1, level(over, 1, sure), 1e-9)

	unsure := judgement{0.25 * middle, middle, 2 * middle}
	require.InDelta(t, math.Pow(0.25, greyCaution), level(noise, 0, unsure), 1e-9)

	blurred := spectrumOf(over, 0)
	blurred.blurred = true
	require.InDelta(t, middle, Profile{Kind: White, Sigma: 9 * middle}.judged(blurred, sure).Sigma, 1e-12)

	white := Profile{Kind: White, Sigma: greyAgreement * 1.05 * middle, Reliable: true}
	require.Equal(t, white, white.judged(spectrumOf(over, 0), sure))
}

// Where the rule sees nothing, nothing is found, whatever the floors.
func TestGreyImageWithoutNoise(t *testing.T) {
	s := &spectrum{axes: 1, rounded: notRounded}
	require.Equal(t, None, Profile{Kind: White}.judged(s, judgement{}).Kind)
	for q := range quantiles {
		s.floor[axisOfBrightness][1][q], s.floor[axisOfBrightness][3][q] = 0.1, 0.05*(1+float64(q))
	}
	p := Profile{Kind: White}.judged(s, judgement{})
	require.Equal(t, None, p.Kind)
	require.False(t, math.IsNaN(p.Sigma) || math.IsNaN(p.Low) || math.IsNaN(p.High))
}
