package restore_test

import (
	"image"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// TestCoarseNetwork: it is used where the noise is found to be coarse, and nowhere else.
func TestCoarseNetwork(t *testing.T) {
	dev := newCPU(t)
	white, coarse := loaded(t, dev, seeded(t, "euler", denoise.Architecture{})), loaded(t, dev, guidedFile(t, 0.02, 0.3))
	img := stripes(40, 48)
	for name, c := range map[string]struct {
		noise  restore.Option
		coarse bool
	}{
		"white":  {restore.Noise(restore.NoiseEstimate{Kind: "white", Sigma: 0.05}), false},
		"coarse": {restore.Noise(restore.NoiseEstimate{Kind: "coarse", Sigma: 0.05}), true},
		"given":  {restore.Sigma(0.05), false},
	} {
		got, report, err := restore.Denoise(t.Context(), img, c.noise, restore.Network(white), restore.CoarseNetwork(coarse))
		require.NoError(t, err)
		require.Equal(t, c.coarse, report.Network.Guide != nil, name)
		used := white
		if c.coarse {
			used = coarse
		}
		want, _, err := restore.Denoise(t.Context(), img, restore.Network(used), restore.Sigma(0.05))
		require.NoError(t, err)
		require.Equal(t, pixels(want), pixels(got), name)
	}
	_, _, err := restore.Denoise(t.Context(), img, restore.CoarseNetwork(nil))
	require.ErrorContains(t, err, "is nil")
	_, _, err = restore.Solve(t.Context(), nil, img, restore.CoarseNetwork(coarse))
	require.ErrorContains(t, err, "CoarseNetwork")
}

// TestDefaultForCoarseNoise: without a word the network for the noise of cameras is used where the noise
// is coarse, in a program that has it, and the default elsewhere.
func TestDefaultForCoarseNoise(t *testing.T) {
	want := restore.DefaultMethod()
	if slices.Contains(weights.Embedded(), weights.Camera) {
		want = weights.Camera
	}
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	coarse := restore.Noise(restore.NoiseEstimate{Kind: "coarse", Sigma: 0.05})
	for _, c := range []struct {
		options []restore.Option
		method  string
	}{
		{[]restore.Option{coarse}, want},
		{[]restore.Option{coarse, restore.Method(restore.DefaultMethod())}, restore.DefaultMethod()},
		{[]restore.Option{coarse, restore.Sigma(0.05)}, restore.DefaultMethod()},
		{[]restore.Option{restore.Noise(restore.NoiseEstimate{Kind: "white", Sigma: 0.05})}, restore.DefaultMethod()},
	} {
		_, report, err := r.Denoise(t.Context(), stripes(32, 32), c.options...)
		require.NoError(t, err)
		require.Equal(t, c.method, report.Method)
	}
}

// TestNoiseGiven: an estimate that was made before does what the same one does that is made in the call,
// and the part of one what it says of a part.
func TestNoiseGiven(t *testing.T) {
	n := loaded(t, newCPU(t), guidedFile(t, 0.02, 0.3))
	p := noisy(still(48, 64), 0.1, 7)
	e, err := restore.EstimateNoise(t.Context(), p)
	require.NoError(t, err)
	want, wanted, err := restore.Denoise(t.Context(), p, restore.Network(n))
	require.NoError(t, err)
	got, report, err := restore.Denoise(t.Context(), p, restore.Network(n), restore.Sigma(0.2), restore.Noise(e))
	require.NoError(t, err)
	require.Equal(t, wanted, report)
	require.Equal(t, pixels(want), pixels(got))
	other, _, err := restore.Denoise(t.Context(), p, restore.Network(n), restore.Noise(e), restore.Sigma(0.2))
	require.NoError(t, err)
	require.NotEqual(t, pixels(want), pixels(other))

	part := e.Part(image.Rect(32, 16, 64, 48))
	require.NoError(t, part.Levels.Check(32, 32))
	for y := range 2 {
		for x := range 2 {
			require.Equal(t, e.Levels.Sigma[(y+1)*e.Levels.Columns+x+2], part.Levels.Sigma[y*2+x])
		}
	}
	// A map of another size is an error, and no panic.
	_, _, err = restore.Denoise(t.Context(), p, restore.Network(n), restore.Noise(part))
	require.ErrorContains(t, err, "a map of 2×2 squares")

	for _, sigma := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, err := restore.Denoise(t.Context(), p, restore.Noise(restore.NoiseEstimate{Sigma: sigma}))
		var of *restore.OptionError
		require.ErrorAs(t, err, &of)
	}
	_, _, err = restore.Deblur(t.Context(), p, deblur.Kernel{H: 1, W: 1, Weights: []float32{1}}, restore.Noise(restore.NoiseEstimate{}))
	require.ErrorContains(t, err, "Noise")
}
