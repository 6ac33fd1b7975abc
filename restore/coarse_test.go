package restore_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/localmean"
	"github.com/averaged/imaging/internal/noiselevel"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// grainy is grey with white noise, or with the coarse noise that means over 3×3 pixels make of it.
func grainy(coarse bool) *restore.Planar {
	const side = 128
	random := rand.New(rand.NewPCG(3, 4))
	p := restore.NewPlanar(3, side, side)
	for c := range 3 {
		noise := make([]float32, side*side)
		for i := range noise {
			noise[i] = float32(0.1 * random.NormFloat64())
		}
		for i := range noise {
			p.Plane(c)[i] = 0.5 + 0.3*noise[i]
			if !coarse {
				continue
			}
			sum := float32(0)
			for y := -1; y <= 1; y++ {
				for x := -1; x <= 1; x++ {
					sum += noise[(i/side+y+side)%side*side+(i%side+x+side)%side]
				}
			}
			p.Plane(c)[i] = 0.5 + sum/9
		}
	}
	return p
}

// guidedLevel is what a network with a guide is told of coarse noise that was found.
func guidedLevel(e *restore.NoiseEstimate) float64 {
	finest := slices.MinFunc(e.Bands, func(a, b restore.NoiseBand) int { return cmp.Compare(a.Period, b.Period) })
	first := e.Bands[0] // of 12 pixels
	return strength.GuidedCoarseLevel(e.Sigma, finest.Brightness, noiselevel.QuietColour(e.Sigma, first.Colour))
}

// TestCoarseNetwork: it is used where the noise is found to be coarse, or said to be, and nowhere else.
func TestCoarseNetwork(t *testing.T) {
	leaveRuns(t)
	dev := newCPU(t)
	white, coarse := loaded(t, dev, seeded(t, "euler", denoise.Architecture{})), loaded(t, dev, guidedFile(t, 0.02, 0.3))
	for name, c := range map[string]struct {
		img    *restore.Planar
		sigma  []restore.Option
		coarse bool
		level  func(r *restore.Report) float64
	}{
		"found white":   {grainy(false), nil, false, nil},
		"found coarse":  {grainy(true), nil, true, func(r *restore.Report) float64 { return guidedLevel(r.Estimate) }},
		"said white":    {grainy(true), []restore.Option{restore.Sigma(0.04)}, false, nil},
		"said coarse":   {grainy(false), []restore.Option{restore.Grain(0.02)}, true, func(r *restore.Report) float64 { return r.Sigma }},
		"said at last":  {grainy(true), []restore.Option{restore.Grain(0.02), restore.Sigma(0.04)}, false, nil},
		"to find again": {grainy(false), []restore.Option{restore.Grain(0.02), restore.SigmaAuto()}, false, nil},
	} {
		got, report, err := restore.Denoise(t.Context(), c.img, append(c.sigma, restore.Network(white), restore.CoarseNetwork(coarse), restore.Shadows(false))...)
		require.NoError(t, err)
		require.Equal(t, c.coarse, report.Guide != nil, name)
		want := []restore.Option{restore.Network(white), restore.Sigma(report.Sigma)}
		if c.coarse {
			want = []restore.Option{restore.Network(coarse), restore.Sigma(c.level(report))}
		}
		same, _, err := restore.Denoise(t.Context(), c.img, want...)
		require.NoError(t, err)
		expected := pixels(same)
		if c.coarse {
			expected = slices.Clone(expected)
			kept := localmean.Keep(c.img.Pix, expected, c.img.Channels, c.img.Height, c.img.Width, report.Sigma)
			require.Equal(t, kept, report.MeansKept, name)
		}
		require.Equal(t, expected, pixels(got), name)
	}
	_, _, err := restore.Denoise(t.Context(), grainy(true), restore.CoarseNetwork(nil))
	require.ErrorContains(t, err, "is nil")
	_, _, err = restore.Solve(t.Context(), nil, grainy(true), restore.CoarseNetwork(coarse))
	require.ErrorContains(t, err, "CoarseNetwork")
}

// TestDefaultForCoarseNoise: without a word the network for the noise of cameras is used where the noise
// is coarse, in a program that has it, and the default elsewhere.
func TestDefaultForCoarseNoise(t *testing.T) {
	leaveRuns(t)
	want := restore.DefaultMethod()
	if slices.Contains(weights.Embedded(), weights.Camera) {
		want = restore.Camera
	}
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	img := grainy(true)
	_, report, err := r.Denoise(t.Context(), img)
	require.NoError(t, err)
	require.Equal(t, want, report.Method)
	require.Equal(t, restore.CoarseNoise, report.Estimate.Kind)
	for _, options := range [][]restore.Option{
		{restore.Method(restore.DefaultMethod())}, {restore.Sigma(0.05)},
	} {
		_, report, err = r.Denoise(t.Context(), img, options...)
		require.NoError(t, err)
		require.Equal(t, restore.DefaultMethod(), report.Method)
	}
	_, report, err = r.Denoise(t.Context(), grainy(false))
	require.NoError(t, err)
	require.Equal(t, restore.DefaultMethod(), report.Method)
}

// TestNoiseGiven: an estimate that was made before does what the same one does that is made in the call.
func TestNoiseGiven(t *testing.T) {
	dev := newCPU(t)
	n := loaded(t, dev, guidedFile(t, 0.02, 0.3))
	for _, coarse := range []bool{false, true} {
		p := grainy(coarse)
		e, err := restore.EstimateNoise(p)
		require.NoError(t, err)
		require.Equal(t, coarse, e.Kind == restore.CoarseNoise)
		want, wanted, err := restore.Denoise(t.Context(), p, restore.Network(n))
		require.NoError(t, err)
		got, report, err := restore.Denoise(t.Context(), p, restore.Network(n), restore.Sigma(0.2), restore.Noise(e))
		require.NoError(t, err)
		require.Equal(t, wanted, report)
		require.Equal(t, pixels(want), pixels(got))
		other, _, err := restore.Denoise(t.Context(), p, restore.Network(n), restore.Noise(e), restore.Sigma(0.2))
		require.NoError(t, err)
		require.NotEqual(t, pixels(want), pixels(other))
	}
	for _, sigma := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, err := restore.Denoise(t.Context(), grainy(false), restore.Noise(restore.NoiseEstimate{Sigma: sigma}))
		var of *restore.OptionError
		require.ErrorAs(t, err, &of)
	}
	_, _, err := restore.Deblur(t.Context(), grainy(false), deblur.Kernel{H: 1, W: 1, Weights: []float32{1}}, restore.Noise(restore.NoiseEstimate{}))
	require.ErrorContains(t, err, "Noise")
}
