package tv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/tv"
)

func TestAlphaGrowsSmoothlyFromZero(t *testing.T) {
	for _, c := range couplings {
		require.Zero(t, tv.Alpha(0, c))
		last := 0.0
		for sigma := 0.001; sigma < 1; sigma *= 1.1 {
			a := tv.Alpha(sigma, c)
			require.Greater(t, a, last)
			if last > 0 {
				require.Less(t, a, 1.4*last)
			}
			last = a
		}
	}
}

// The strengths that are known to be good at the noise level 0.15: 0.125 per
// channel, 0.185 coupled, 0.11 with chroma × 1.5 or more on opponent axes.
func TestAlphaAtAKnownNoiseLevel(t *testing.T) {
	require.InDelta(t, 0.125, tv.Alpha(0.15, tv.PerChannel()), 0.01)
	require.InDelta(t, 0.185, tv.Alpha(0.15, tv.Coupled()), 0.01)
	require.InDelta(t, 0.11, tv.Alpha(0.15, tv.Opponent(0)), 0.01)
	require.InDelta(t, 1.8, tv.ChromaWeight(0.15), 0.1)
}

func TestTuned(t *testing.T) {
	alpha, c := tv.Tuned(0.1, 3)
	require.Equal(t, tv.Opponent(tv.ChromaWeight(0.1)), c)
	require.Equal(t, tv.Alpha(0.1, c), alpha)
	for _, channels := range []int{1, 17} {
		alpha, c = tv.Tuned(0.1, channels)
		require.Equal(t, tv.PerChannel(), c)
		require.Equal(t, tv.Alpha(0.1, c), alpha)
	}
}
