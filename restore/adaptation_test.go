package restore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// edges is a picture of few sharp edges, stripes one of fine detail everywhere.
func edges(h, w int) *restore.Planar {
	return drawn(h, w, func(x, y int) float32 { return []float32{0.2, 0.4, 0.6, 0.8}[x/(w/2)%2+2*(y/(h/2)%2)] })
}

func stripes(h, w int) *restore.Planar {
	return drawn(h, w, func(x, y int) float32 { return 0.5 + 0.2*float32(math.Sin(0.9*float64(x))*math.Sin(1.1*float64(y))) })
}

func drawn(h, w int, value func(x, y int) float32) *restore.Planar {
	p := restore.NewPlanar(3, h, w)
	for c := range 3 {
		for i := range p.Plane(c) {
			p.Plane(c)[i] = value(i%w, i/w) * []float32{1, 0.9, 0.7 + 0.2*float32(i%w)/float32(w)}[c] // no tint of grey
		}
	}
	return p
}

// The strength of a network follows the image, to its advantage, unless it is told not to.
func TestAdapt(t *testing.T) {
	n := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	const sigma = 0.1
	for name, c := range map[string]struct {
		x        *restore.Planar
		stronger bool
	}{"edges": {edges(96, 112), true}, "stripes": {stripes(96, 112), false}} {
		y := noisy(c.x, sigma, 3)
		denoised := func(o ...restore.Option) (*restore.Planar, *restore.Report) {
			out, report, err := restore.Denoise(t.Context(), y, append(o, n, restore.Sigma(sigma))...)
			require.NoError(t, err)
			require.True(t, report.Certified)
			return out.(*restore.Planar), report
		}
		adapted, report := denoised()
		require.Equal(t, c.stronger, report.Network.Adaptation > 1, "%s: %v", name, report.Network.Adaptation)
		require.InDelta(t, sigma*report.Network.Adaptation, report.Network.Level, 1e-12)
		fixed, without := denoised(restore.Adaptation(false))
		require.Zero(t, without.Network.Adaptation)
		require.InDelta(t, sigma, without.Network.Level, 1e-12)
		require.Greater(t, psnr(t, c.x, adapted), psnr(t, c.x, fixed)+0.05, name)
		_, twice := denoised(restore.Strength(2))
		require.InDelta(t, 2*report.Network.Level, twice.Network.Level, 1e-12)
		// The noise itself hardly counts.
		y = noisy(c.x, sigma, 4)
		_, other := denoised()
		require.InEpsilon(t, report.Network.Adaptation, other.Network.Adaptation, 0.05, name)
	}
}

// Whatever the image, the factor is within its limits, and that of a small one is 1.
func TestAdaptationIsBounded(t *testing.T) {
	n := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 24).Draw(t, "h"), rapid.IntRange(1, 24).Draw(t, "w")
		p := restore.NewPlanar([]int{1, 3}[rapid.IntRange(0, 1).Draw(t, "colour")], h, w)
		scale := rapid.SampledFrom([]float32{0, 1e-20, 1, 1e15}).Draw(t, "scale")
		for i := range p.Pix {
			p.Pix[i] = scale * rapid.Float32Range(-1, 1).Draw(t, "sample")
		}
		sigma := rapid.SampledFrom([]float64{1e-9, 0.01, 1}).Draw(t, "sigma")
		_, report, err := restore.Denoise(t.Context(), p, n, restore.Sigma(sigma))
		require.NoError(t, err)
		require.InDelta(t, 0, math.Log(report.Network.Adaptation), 0.4+1e-12)
		if min(h, w) < 4 {
			require.Equal(t, 1.0, report.Network.Adaptation)
		}
	})
}

// A network of which nothing is proven is used as it is.
func TestAdaptLeavesUnconstrainedNetworksAlone(t *testing.T) {
	_, report, err := restore.Denoise(t.Context(), edges(16, 16), restore.Method(weights.DnCNN), restore.Sigma(0.15))
	require.NoError(t, err)
	require.Zero(t, report.Network.Adaptation)
	require.InDelta(t, 1, report.Network.Rescaling, 1e-12)
}

// The noise of a grey image is as strong in all channels that it goes through a network of
// colour in, and at the same place: it is removed all the same, and as well from a grey image
// that is kept as colour.
func TestGreyThroughColour(t *testing.T) {
	const sigma = 0.1
	n := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	flat := restore.NewPlanar(1, 80, 88)
	for i := range flat.Pix {
		flat.Pix[i] = 0.5
	}
	grey := noisy(flat, sigma, 7)
	out, report, err := restore.Denoise(t.Context(), grey, n, restore.Sigma(sigma), restore.Adaptation(false))
	require.NoError(t, err)
	require.InDelta(t, math.Sqrt(3)*sigma, report.Network.Level, 1e-12)
	left := 0.0
	for _, v := range pixels(out) {
		left += (float64(v) - 0.5) * (float64(v) - 0.5)
	}
	require.Less(t, math.Sqrt(left/float64(len(grey.Pix))), 0.2*sigma)

	colour := restore.NewPlanar(3, 80, 88)
	for c := range 3 {
		copy(colour.Plane(c), grey.Pix)
	}
	estimate, err := restore.EstimateNoise(t.Context(), colour)
	require.NoError(t, err)
	same, err := restore.EstimateNoise(t.Context(), grey)
	require.NoError(t, err)
	require.Equal(t, same, estimate)
	for name, o := range map[string]restore.Option{"network": n, "tv": restore.Method("tv")} {
		want, _, err := restore.Denoise(t.Context(), grey, o, restore.Sigma(sigma))
		require.NoError(t, err)
		out, _, err := restore.Denoise(t.Context(), colour, o, restore.Sigma(sigma))
		require.NoError(t, err)
		for c := range 3 {
			require.Equal(t, pixels(want), out.(*restore.Planar).Plane(c), name)
		}
	}
}
