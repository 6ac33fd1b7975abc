package strength

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// grows fails unless a rule grows with the noise, smoothly, from the given noise level on.
func grows(t *testing.T, rule func(sigma float64) float64, from float64) {
	t.Helper()
	last := rule(from)
	require.GreaterOrEqual(t, last, 0.0)
	for sigma := 1.1 * from; sigma < 1; sigma *= 1.1 {
		v := rule(sigma)
		require.Greater(t, v, last)
		if last > 0 {
			require.Less(t, v, 1.4*last)
		}
		last = v
	}
}

func TestAlphaGrowsSmoothlyFromZero(t *testing.T) {
	for _, rule := range []func(float64) float64{AlphaPerChannel, AlphaCoupled, AlphaOpponent} {
		require.Zero(t, rule(0))
		grows(t, rule, 0.001)
	}
}

// At σ = 0.15 the best α of photographs are known.
func TestAlphaAtAKnownNoiseLevel(t *testing.T) {
	require.InDelta(t, 0.125, AlphaPerChannel(0.15), 0.01)
	require.InDelta(t, 0.185, AlphaCoupled(0.15), 0.01)
	require.InDelta(t, 0.11, AlphaOpponent(0.15), 0.01)
	require.InDelta(t, 1.8, ChromaWeight(0.15), 0.1)
}

func TestChromaWeight(t *testing.T) {
	require.InDelta(t, 1.7, ChromaWeight(0.3), 0.05)
	require.InDelta(t, 2.7, ChromaWeight(0.02), 0.1)
	require.Equal(t, ChromaWeight(endOfChroma), ChromaWeight(0))
	for _, sigma := range []float64{0.0002, 0.01, 0.15, 0.9, 3} {
		require.InEpsilon(t, ChromaWeight(sigma), MatchingChromaWeight(AlphaOpponent(sigma)), 1e-9)
	}
	require.InEpsilon(t, ChromaWeight(endOfChroma), MatchingChromaWeight(0), 1e-9)
}

// Without a blur deblurring is denoising, within the range of both fits.
func TestDeblurWeight(t *testing.T) {
	for _, sigma := range []float64{0.03, 0.05, 0.15} {
		require.InEpsilon(t, AlphaOpponent(sigma), DeblurWeight(sigma, 1, 3), 0.15)
	}
	for _, channels := range []int{1, 3} {
		grows(t, func(sigma float64) float64 { return DeblurWeight(sigma, 0.03, channels) }, MinSigma)
		require.Less(t, DeblurWeight(0.05, 0.03, channels), DeblurWeight(0.05, 0.3, channels))
		require.Equal(t, DeblurWeight(MinSigma/math.Sqrt(3), 0.03, channels), DeblurWeight(0, 0.03, channels))
	}
}

// Grey as three equal channels is the same problem at √3 times the scale, for every rule.
func TestGrey(t *testing.T) {
	require.Equal(t, math.Sqrt(3)*0.1, AlongBrightness(0.1, 3))
	require.Equal(t, 0.1, AlongBrightness(0.1, 1))
	for name, rule := range map[string]func(sigma float64, channels int) float64{
		"deblur":  func(sigma float64, channels int) float64 { return DeblurWeight(sigma, 0.1, channels) },
		"inpaint": InpaintWeight,
		"solve":   func(sigma float64, channels int) float64 { return SolveWeight(sigma, 0.5, channels) },
		"upscale": func(sigma float64, channels int) float64 { return UpscaleWeight(sigma, 2, channels) },
	} {
		require.InEpsilon(t, rule(AlongBrightness(0.05, 3), 3), AlongBrightness(rule(0.05, 1), 3), 1e-12, name)
	}
}

// The level is in proportion to the noise and to √step, and least where nothing is blurred.
func TestDeblurLevel(t *testing.T) {
	require.InDelta(t, 1.08*0.7*0.1*2, PriorLevel(0.1, 1, 4), 1e-12)
	require.InDelta(t, 1.08*(1-0.3/25)*0.1*2, PriorLevel(0.1, 1./25, 4), 1e-12)
	require.Equal(t, PriorLevel(0.1, 1, 4), PriorLevel(0.1, 11, 4), "more energy than no blur has counts as much")
	require.InDelta(t, math.Sqrt(5)*PriorLevel(0.1, 0.1, 2), PriorLevel(0.1, 0.1, DeblurStep), 1e-12)
	grows(t, func(sigma float64) float64 { return DeblurLevel(sigma, 0.03, DeblurStep) }, MinSigma)
	require.InDelta(t, 1.026*math.Sqrt(DeblurStep)*0.1*(1-0.3*0.03), DeblurLevel(0.1, 0.03, DeblurStep), 1e-12)
	require.Equal(t, DeblurLevel(MinSigma, 0.03, DeblurStep), DeblurLevel(0, 0.03, DeblurStep))
}

// Where data are missing there is a least strength without any noise; noise adds to it.
func TestInpaint(t *testing.T) {
	require.InDelta(t, 0.045, InpaintLevel(0), 1e-15)
	require.InEpsilon(t, 1.5*0.3, InpaintLevel(0.3), 0.01)
	require.InDelta(t, 0.003, InpaintWeight(0, 3), 1e-15)
	require.InDelta(t, 0.0105, InpaintWeight(0.05, 3), 1e-15)
	grows(t, InpaintLevel, MinSigma)
}

func TestUpscale(t *testing.T) {
	require.InDelta(t, 0.01, UpscaleLevel(0, 2), 1e-15)
	require.InEpsilon(t, 1.4*3*0.1, UpscaleLevel(0.1, 3), 0.01)
	require.InDelta(t, 0.0003, UpscaleWeight(0, 4, 3), 1e-15)
	require.InDelta(t, 0.0043, UpscaleWeight(0.05, 2, 3), 1e-12)
	for factor := 2; factor <= 4; factor++ {
		grows(t, func(sigma float64) float64 { return UpscaleLevel(sigma, factor) }, MinSigma)
	}
}

// More detail is smoothed less, and no image is taken beyond the limits of the fit.
func TestDetail(t *testing.T) {
	factor := func(mean, median, saturated float64) float64 {
		return DenoiseFactor(Gradients{Mean: mean, Median: median}, 0.1, 0.1, 3, saturated)
	}
	require.Less(t, factor(0.2, 0.12, 0), factor(0.1, 0.06, 0))
	require.Less(t, factor(0.1, 0.06, 0.1), factor(0.1, 0.06, 0))
	for _, mean := range []float64{0, 1e-9, 1, 1e9} { // with and without anything but noise
		v := factor(mean, mean, 0)
		require.GreaterOrEqual(t, v, math.Exp(-0.4))
		require.LessOrEqual(t, v, math.Exp(0.4))
		require.NotZero(t, DeblurFactor(mean, 0.03))
	}
	require.Less(t, DeblurFactor(0.2, 0.03), DeblurFactor(0.1, 0.03))
	require.Equal(t, DeblurFactor(0.1, minEnergy), DeblurFactor(0.1, 0))
	require.Equal(t, DeblurFactor(0.1, maxEnergy), DeblurFactor(0.1, 1))
}

// An operator of its own kind is treated as the known ones of its norm, and the units of the
// measurements do not matter.
func TestSolve(t *testing.T) {
	for _, sigma := range []float64{0.03, 0.1, 0.3} {
		require.InEpsilon(t, InpaintLevel(sigma), SolveLevel(sigma, 1), 0.3)
		require.InEpsilon(t, InpaintWeight(sigma, 3), SolveWeight(sigma, 1, 3), 0.1)
		for factor := 2; factor <= 4; factor++ {
			norm := 1 / float64(factor)
			require.InEpsilon(t, UpscaleLevel(sigma, factor), SolveLevel(sigma, norm), 0.1)
			require.InEpsilon(t, UpscaleWeight(sigma, factor, 3), SolveWeight(sigma, norm, 3), 0.3)
		}
	}
	for _, c := range []float64{0.01, 7} {
		require.InEpsilon(t, SolveLevel(0.05, 0.4), SolveLevel(c*0.05, c*0.4), 1e-12)
		for _, channels := range []int{1, 3} {
			require.InEpsilon(t, c*c*SolveWeight(0.05, 0.4, channels), SolveWeight(c*0.05, c*0.4, channels), 1e-12)
		}
	}
}

// The error of a kernel counts where there is little noise, and none where nothing is blurred.
func TestDisturbance(t *testing.T) {
	require.InDelta(t, 2.6/255, Disturbance(0.01, 0.03, 0.25), 0.05/255)
	require.InEpsilon(t, 0.1, Disturbance(0.1, 0.03, 0.25), 1e-4)
	require.InEpsilon(t, 0.0045, Disturbance(0, 0.03, 0.25), 0.02)
	require.InDelta(t, 0.01, Disturbance(0.01, 1, 0.25), 1e-15)
	require.InDelta(t, 0.01, Disturbance(0.01, 11, 0.25), 1e-15)
}

// With a guide the levels grow with the noise as those without do, about half as large.
func TestGuided(t *testing.T) {
	half := func(guided, without func(sigma float64) float64) {
		grows(t, guided, MinSigma)
		for _, sigma := range []float64{0, 0.003, 0.03, 0.3} {
			share := guided(sigma) / without(sigma)
			require.GreaterOrEqual(t, share, 0.39)
			require.LessOrEqual(t, share, 1.2)
		}
	}
	half(func(sigma float64) float64 { return GuidedDeblurLevel(sigma, 0.03, DeblurStep) },
		func(sigma float64) float64 { return DeblurLevel(sigma, 0.03, DeblurStep) })
	half(GuidedInpaintLevel, InpaintLevel)
	for factor := 2; factor <= 4; factor++ {
		half(func(sigma float64) float64 { return GuidedUpscaleLevel(sigma, factor) },
			func(sigma float64) float64 { return UpscaleLevel(sigma, factor) })
		require.InEpsilon(t, GuidedUpscaleLevel(0.1, factor), GuidedSolveLevel(0.1, 1/float64(factor)), 0.1)
	}
	half(func(sigma float64) float64 { return GuidedSolveLevel(sigma, 0.4) }, func(sigma float64) float64 { return SolveLevel(sigma, 0.4) })
	require.InEpsilon(t, GuidedInpaintLevel(0.1), GuidedSolveLevel(0.1, 1), 0.1)
	require.InDelta(t, 0.5*DeblurLevel(0.01, 0.03, 7), GuidedDeblurLevel(0.01, 0.03, 7), 1e-12)
	require.InDelta(t, 0.55*DeblurLevel(0.1, 0.03, 7), GuidedDeblurLevel(0.1, 0.03, 7), 1e-12)
	require.Equal(t, float64(DeblurStep), GuidedDeblurStep(0))
	require.Equal(t, float64(DeblurStep), GuidedDeblurStep(MinSigma))
	require.Equal(t, float64(DeblurStep), GuidedDeblurStep(0.03))
	require.InDelta(t, 0.5*DeblurStep, GuidedDeblurStep(0.5), 1e-12)
	grows(t, func(sigma float64) float64 {
		return GuidedDeblurLevel(sigma, 0.03, GuidedDeblurStep(sigma))
	}, MinSigma)
	require.InDelta(t, 0.019, GuidedInpaintLevel(0), 1e-12)
	require.InDelta(t, 0.012, GuidedUpscaleLevel(0, 3), 1e-12)
}

// TestAnnealed: from much noise down to the level of the run, each step for less than the one before, and the run
// for less than the last.
func TestAnnealed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.Float64Range(1e-4, 2).Draw(t, "level")
		last := math.Inf(1)
		for i := range AnnealedSteps + 1 {
			factor := Annealed(level, i)
			require.Less(t, factor, last)
			last = factor
		}
		require.Equal(t, 1.0, last)
		first := Annealed(level, 0)
		require.GreaterOrEqual(t, first, 1.5*(1-1e-12))
		require.LessOrEqual(t, first, 6*(1+1e-12))
	})
	require.InDelta(t, 49.0/255, 0.05*Annealed(0.05, 0), 1e-12)
}
