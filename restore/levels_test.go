package restore_test

import (
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// allLevels returns the weight file of a small network for all noise levels, in half
// precision, that works on a quarter of the pixels.
func allLevels(t testing.TB, method string) *weights.File {
	integrator, err := rungekutta.Named(method)
	require.NoError(t, err)
	m, err := denoise.RandomModel(6, denoise.Architecture{
		Width: 12, Blocks: 2, Integrator: integrator, Shuffle: 2, Sigmas: []float64{0.02, 0.1, 0.3},
	}, 1.5)
	require.NoError(t, err)
	m, err = m.Rounded16()
	require.NoError(t, err)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := m.File(card("all-"+method), c, weights.HalfPrecision())
	require.NoError(t, err)
	return f
}

// apply returns Φ(y), a grey image copied to three channels.
func apply(t testing.TB, n *denoise.Network, y *restore.Planar) []float32 { return through(t, n, y, 1) }

// A network for all noise levels is used for that of the image, in colour and in grey,
// with the certificate of that level.
func TestDenoiseByAllLevels(t *testing.T) {
	dev := newCPU(t)
	for _, method := range []string{"euler", "heun", "backward-euler"} {
		f := allLevels(t, method)
		n := loaded(t, dev, f)
		for _, channels := range []int{1, 3} {
			for _, c := range []struct{ sigma, strength, level float64 }{{0.05, 1.5, 0.075}, {0.1, 1, 0.1}, {0.9, 1, 0.9}, {1e-9, 1, 0.001}} {
				y := noisy(picture(channels, 16, 18), 0.05, 3)
				out, report, err := restore.Denoise(t.Context(), y, restore.Network(n), restore.Sigma(c.sigma), restore.Strength(c.strength), restore.Adaptation(false))
				require.NoError(t, err)
				level := c.level * overAxes(channels)
				require.InDelta(t, level, report.Network.Level, 1e-15)
				require.Zero(t, report.Network.Rescaling)
				require.True(t, report.Certified)
				at, err := n.For(t.Context(), report.Network.Level)
				require.NoError(t, err)
				alpha, _ := at.Averagedness()
				require.Equal(t, alpha, report.Averagedness)
				whole, _ := n.Averagedness()
				require.LessOrEqual(t, alpha, whole)
				require.Equal(t, at.Certificate().Weights, report.Network.Certificate.Weights)
				require.Equal(t, 1-channels/3, len(report.Network.Certificate.Wrappers), "grey, and no rescaling")
				require.InDeltaSlice(t, apply(t, at, y), pixels(out), 2e-4)
				require.Greater(t, difference(pixels(out), y.Pix), 1e-4, "it does something")
				at.Free()

				again, _, err := restore.Denoise(t.Context(), y, restore.Weights(f), restore.Sigma(c.sigma), restore.Strength(c.strength), restore.Adaptation(false))
				require.NoError(t, err)
				require.Equal(t, pixels(out), pixels(again), "loaded for this call")
			}
		}
	}
	_, _, err := restore.Denoise(t.Context(), picture(3, 8, 8), restore.Weights(allLevels(t, "euler")), restore.Sigma(1e300), restore.Strength(1e6))
	require.ErrorContains(t, err, `through the weights "all-euler"`)
}

// Calls at the same time, for different noise levels, do not see each other.
func TestAllLevelsAtTheSameTime(t *testing.T) {
	n := loaded(t, newCPU(t), allLevels(t, "euler"))
	y := noisy(picture(3, 20, 21), 0.05, 3)
	sigmas := []float64{0.01, 0.03, 0.1, 0.5}
	denoised := func(sigma float64) ([]float32, error) {
		out, _, err := restore.Denoise(t.Context(), y, restore.Network(n), restore.Sigma(sigma))
		if err != nil {
			return nil, err
		}
		return pixels(out), nil
	}
	want := map[float64][]float32{}
	for _, sigma := range sigmas {
		var err error
		want[sigma], err = denoised(sigma)
		require.NoError(t, err)
	}
	var group sync.WaitGroup
	for k := range 8 {
		group.Go(func() {
			sigma := sigmas[k%len(sigmas)]
			got, err := denoised(sigma)
			if err != nil || difference(got, want[sigma]) != 0 {
				t.Errorf("σ = %v: other pixels than alone, error %v", sigma, err)
			}
		})
	}
	group.Wait()
}

// Deblur and Check take the level of the image, and a certificate of convergence follows.
func TestDeblurAndCheckByAllLevels(t *testing.T) {
	kernel, err := deblur.Motion(3, 30)
	require.NoError(t, err)
	for _, method := range []string{"euler", "heun"} {
		n := loaded(t, newCPU(t), allLevels(t, method))
		for _, channels := range []int{1, 3} {
			y := noisy(picture(channels, 16, 18), 0.02, 3)
			_, report, err := restore.Deblur(t.Context(), y, kernel, restore.Network(n), restore.Sigma(0.03), restore.Iterations(8), restore.Adaptation(false))
			require.NoError(t, err)
			require.InDelta(t, overAxes(channels)*restore.DeblurLevel(0.03, kernel), report.Network.Level, 1e-15)
			require.True(t, report.Iteration.Run.Certificate.Proven)
		}
		if method != "euler" {
			continue
		}
		if testing.Short() {
			continue // attacks on the network; TestCheckOfGuidedNetworks has one
		}
		check, err := restore.Check(t.Context(), noisy(picture(3, 16, 18), 0.05, 3), kernel, restore.Network(n), restore.Iterations(5))
		require.NoError(t, err)
		require.True(t, check.Holds, check.Violations)
		require.True(t, check.Attack.Gradients)
		check, err = restore.Check(t.Context(), nil, deblur.Kernel{}, restore.Network(n))
		require.NoError(t, err)
		require.True(t, check.Holds, check.Violations)
		require.Equal(t, backend.Image(3, 32, 32), check.AttackShape)
		require.Contains(t, check.Network.String(), "for the noise level ")
	}
}
